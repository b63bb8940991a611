// SPDX-License-Identifier: Apache-2.0
// Task-local storage of C.
#include "api/c/guard.hpp"

#include <weft/task_local.hpp>

using namespace weft::rt;

namespace {

struct pointer_value {
  explicit pointer_value(void (*f)(void *)) noexcept : destroy(f) {}
  pointer_value(const pointer_value &other) noexcept : destroy(other.destroy) {}
  pointer_value &operator=(const pointer_value &) = delete;
  ~pointer_value() {
    if (value && destroy)
      destroy(value);
  }
  void *value = nullptr;
  void (*destroy)(void *);
};

} // namespace

struct weft_local {
  explicit weft_local(void (*destroy)(void *)) : variable(pointer_value(destroy)) {}
  weft::task_local<pointer_value> variable;
};

int weft_local_create(weft_local **local, void (*destroy)(void *)) {
  if (local)
    *local = nullptr;
  return guarded([&] {
    require(local, "weft_local_create", "local");
    *local = new weft_local(destroy);
  });
}

int weft_local_set(weft_local *local, void *value) {
  return guarded([&] {
    require(local, "weft_local_set", "local");
    local->variable->value = value;
  });
}

int weft_local_get(weft_local *local, void **value) {
  if (value)
    *value = nullptr;
  return guarded([&] {
    require(local, "weft_local_get", "local");
    require(value, "weft_local_get", "value");
    *value = local->variable->value;
  });
}

void weft_local_destroy(weft_local *local) { delete local; }

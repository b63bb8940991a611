// SPDX-License-Identifier: Apache-2.0
#include "object.hpp"
#include "waiters.hpp"

#include <cstddef>
#include <cstring>
#include <mutex>

using namespace weft_glt;

namespace {

struct future {
  static constexpr kind_of_object k_kind{"a future", "glt_future_create()"};

  /// Adds a waiter, unless the future is ready.
  [[nodiscard]] bool add(waiter &newcomer) {
    const std::lock_guard here(guard);
    if (ready)
      return false;
    waiting.add(newcomer);
    return true;
  }

  std::mutex guard; // held for a few instructions, never while a caller waits
  bool ready = false; // guarded
  int bytes = 0;
  std::unique_ptr<std::max_align_t[]> value;
  waiters waiting;
};

} // namespace

void glt_future_create(int nbytes, GLT_future *newfuture) {
  require_session("glt_future_create");
  if (nbytes < 0)
    misuse("glt_future_create", "a value of %d bytes; pass 0 or more", nbytes);
  future &f = new_object<future>("glt_future_create", newfuture);
  f.ready = false; // no other caller knows the future
  f.bytes = nbytes;
  const std::size_t units =
      (static_cast<std::size_t>(nbytes) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  in_weft("glt_future_create",
          [&] { f.value = units ? std::make_unique<std::max_align_t[]>(units) : nullptr; });
}

void glt_future_free(GLT_future *future_to_free) {
  require("glt_future_free", future_to_free, "future");
  future &f = object_of<future>("glt_future_free", number_of(*future_to_free));
  {
    const std::lock_guard here(f.guard);
    if (!f.waiting.empty())
      misuse("glt_future_free",
             "callers wait for the future; set it with glt_future_set() before it is freed");
    f.value.reset();
  }
  free_object<future>(future_to_free);
}

void glt_future_wait(GLT_future future_to_wait_for, void **value) {
  future &f = object_of<future>("glt_future_wait", number_of(future_to_wait_for));
  in_weft("glt_future_wait", [&] {
    auto left = [&f](waiter &waiting) {
      if (!f.add(waiting))
        host::wake(waiting.place);
    };
    wait_until_resumed(left);
  });
  if (value)
    *value = f.value.get();
}

void glt_future_set(GLT_future future_to_set, void *value, int nbytes) {
  constexpr const char *k_call = "glt_future_set";
  future &f = object_of<future>(k_call, number_of(future_to_set));
  if (nbytes < 0 || nbytes > f.bytes)
    misuse(k_call, "a value of %d bytes for a future of %d; create it for as many bytes as it gets",
           nbytes, f.bytes);
  if (nbytes > 0)
    require(k_call, value, "value");
  waiter *all = nullptr;
  {
    const std::lock_guard here(f.guard);
    if (f.ready)
      misuse(k_call, "the future has been set before; set a future once, and create another one");
    if (nbytes > 0)
      std::memcpy(f.value.get(), value, static_cast<std::size_t>(nbytes));
    f.ready = true;
    all = f.waiting.take_all();
  }
  in_weft(k_call, [all] { waiters::resume_all(all); });
}

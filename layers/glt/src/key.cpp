// SPDX-License-Identifier: Apache-2.0
#include "key_values.hpp"
#include "object.hpp"

#include <atomic>
#include <utility>

namespace weft_glt {

namespace {

struct key {
  static constexpr kind_of_object k_kind{"a key", "glt_key_create()"};
  std::atomic<void (*)(void *)> destructor{
      nullptr}; // a hint for owners that end as the key is freed
};

} // namespace

void *key_values::get(handle key) const noexcept {
  for (const value_of &v : m_values)
    if (v.key == key)
      return v.value;
  return nullptr;
}

void key_values::set(handle key, void *value) {
  for (value_of &v : m_values)
    if (v.key == key) {
      v.value = value;
      return;
    }
  // Room of a freed key serves again, so that there are never more than keys were in use at a time.
  for (value_of &v : m_values)
    if (!table_of<weft_glt::key>().find(v.key)) {
      v = {key, value};
      return;
    }
  m_values.push_back({key, value});
}

void key_values::end() noexcept {
  constexpr int k_rounds = 4;
  for (int round = 0; round < k_rounds && !m_values.empty(); ++round) {
    std::vector<value_of> const before = std::exchange(m_values, {});
    for (const value_of &v : before) {
      const weft_glt::key *const k = table_of<weft_glt::key>().find(v.key);
      if (auto *const destroy = k ? k->destructor.load(std::memory_order_relaxed) : nullptr;
          destroy && v.value)
        destroy(v.value);
    }
  }
  m_values.clear();
}

} // namespace weft_glt

using namespace weft_glt;

void glt_key_create(void (*destructor)(void *value), GLT_key *newkey) {
  new_object<key>("glt_key_create", newkey).destructor.store(destructor, std::memory_order_relaxed);
}

void glt_key_free(GLT_key *key_to_free) {
  require("glt_key_free", key_to_free, "key");
  object_of<key>("glt_key_free", number_of(*key_to_free))
      .destructor.store(nullptr, std::memory_order_relaxed);
  free_object<key>(key_to_free);
}

void glt_key_set(GLT_key key_to_set, void *value) {
  static_cast<void>(object_of<key>("glt_key_set", number_of(key_to_set)));
  in_weft("glt_key_set", [&] { values_of_caller().set(number_of(key_to_set), value); });
}

void glt_key_get(GLT_key key_to_get, void **value) {
  static_cast<void>(object_of<key>("glt_key_get", number_of(key_to_get)));
  require("glt_key_get", value, "value");
  *value = in_weft("glt_key_get", [&] { return values_of_caller().get(number_of(key_to_get)); });
}

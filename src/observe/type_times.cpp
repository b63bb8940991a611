// SPDX-License-Identifier: Apache-2.0
#include "observe/type_times.hpp"

#include "base/closure_name.hpp"

#include <cstring>
#include <string_view>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_longest = sizeof(type_time::name) - 1;

/// Returns the text that names the type: the same text names the same type, at whatever address.
std::string_view text_of(const task_name &name) noexcept {
  if (name.label)
    return {name.label, strnlen(name.label, k_longest)};
  const std::string_view closure = closure_in(name.closure);
  return closure.empty() ? "task" : closure.substr(0, k_longest);
}

bool is_named(const type_time &type, std::string_view text) noexcept {
  return std::strncmp(type.name, text.data(), text.size()) == 0 && type.name[text.size()] == '\0';
}

type_time &find_by_text(type_times &all, std::string_view text) noexcept {
  type_time *t = all.entries;
  for (type_time *const last = t + k_type_times - 1; t != last && t->ready; ++t)
    if (is_named(*t, text))
      return *t;
  if (!t->ready) {
    if (t == all.entries + k_type_times - 1)
      text = "(others)";
    std::memcpy(t->name, text.data(), text.size());
    __atomic_store_n(&t->ready, std::uint64_t{1}, __ATOMIC_RELEASE); // O1
  }
  return *t;
}

} // namespace

type_time &find_type(type_times &all, const task_name &name) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(name.label ? name.label : name.closure);
  std::uint8_t &hint = all.hints[(address ^ address >> 6) % k_type_times];
  if (hint) {
    type_time &met = all.entries[hint - 1];
    if (met.address == address &&
        (!name.label || is_named(met, text_of(name)))) // a label's memory may have been used again
      return met;
  }
  type_time &t = find_by_text(all, text_of(name));
  t.address = address;
  hint = static_cast<std::uint8_t>(&t - all.entries + 1);
  return t;
}

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
#include "diagnose/outside.hpp"

#include <weft/layer/outside_wait.hpp>

#include <mutex>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

struct sources {
  std::mutex lock;
  std::vector<std::pair<void *, list_outside *>> all;
};
sources &the_sources() {
  static auto *const only = new sources; // never destroyed: teams may end late
  return *only;
}

} // namespace

void add_outside_waits(void *source, list_outside *list) {
  sources &s = the_sources();
  const std::lock_guard guard(s.lock);
  s.all.emplace_back(source, list);
}

void remove_outside_waits(const void *source) noexcept {
  sources &s = the_sources();
  const std::lock_guard guard(s.lock);
  std::erase_if(s.all, [source](const auto &one) { return one.first == source; });
}

std::vector<layer::outside_wait> all_outside_waits() {
  std::vector<layer::outside_wait> waits;
  sources &s = the_sources();
  const std::unique_lock guard(s.lock, std::try_to_lock); // a fork may have left it locked
  if (guard)
    for (const auto &[source, list] : s.all)
      list(source, waits);
  return waits;
}

} // namespace rt
} // namespace weft::inline v0

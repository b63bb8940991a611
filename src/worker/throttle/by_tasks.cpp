// SPDX-License-Identifier: Apache-2.0
#include "base/mutant.hpp"
#include "worker/runtime.hpp"
#include "worker/throttle/throttle_policy.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Adds the counters of all workers at each spawn, so that spawns of programs with other policies
/// count nothing for it.
class by_tasks final : public throttle_policy {
 public:
  [[nodiscard]] throttle_marks marks(const settings &now, unsigned) const override {
    if (now.throttle_tasks == 0)
      return {};
    const std::int64_t most = now.throttle_tasks;
    return {.limit = most,
            .lowest = most,
            .margin = std::min<std::int64_t>(most, 64), // 16 KiB of common tasks
            .checks_each_spawn = true};
  }
  [[nodiscard]] std::int64_t level(const runtime &of, std::int64_t) const override {
    std::int64_t waiting = 0;
    const unsigned used = of.used_slots.load(std::memory_order_acquire); // O1: pairs with adoption
    for (unsigned id = 0; id < used; ++id)
      if (const worker *each = of.slots[id].load(std::memory_order_acquire)) { // O1
        const counter_block &counts = *each->counts;
        const std::uint64_t begun = peek(counts.executed) -
                                    unless(bug::throttle_reruns_begin_again, peek(counts.reruns));
        waiting += static_cast<std::int64_t>(created(counts) - begun);
      }
    return waiting;
  }
};

} // namespace

const throttle_policy &throttle_by_tasks() noexcept {
  static constexpr by_tasks k_policy;
  return k_policy;
}

} // namespace rt
} // namespace weft::inline v0

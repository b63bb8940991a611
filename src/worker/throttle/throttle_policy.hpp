// SPDX-License-Identifier: Apache-2.0
// What the throttle counts, and where its marks are: chosen by the setting throttle.policy.
//
// A new policy is a file with a class, a row in the table of throttle_policy.cpp, and its name in
// src/config/settings.def.
// Bodies: by_bytes.cpp, by_tasks.cpp, none.cpp, throttle_policy.cpp
#pragma once

#include "config/settings.hpp"

#include <cstdint>
#include <span>

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Says above which levels producers are held, in the units of a policy.
struct throttle_marks {
  static constexpr std::int64_t k_no_limit = std::int64_t{1} << 60; // more than all memory

  std::int64_t limit = k_no_limit; // above it all producers are held
  std::int64_t lowest = k_no_limit; // above it producers whose worker has other work
  /// What is made before one more producer is held: as much as its stack is worth.
  std::int64_t margin = 16 << 10;
  bool checks_each_spawn = false; // not only where the memory of live tasks has changed by a batch
};

/// Has no state: the level is read from the runtime each time.
class throttle_policy {
 public:
  [[nodiscard]] virtual throttle_marks marks(const settings &now, unsigned workers) const = 0;
  /// Returns the level that is compared with the marks. Any thread, at any time.
  [[nodiscard]] virtual std::int64_t level(const runtime &of, std::int64_t live_bytes) const = 0;

 protected:
  ~throttle_policy() = default;
};

/// Holds by the memory of live tasks (throttle.bytes, throttle.soft).
[[nodiscard]] const throttle_policy &throttle_by_bytes() noexcept;
/// Holds by the number of tasks whose bodies have not begun (throttle.tasks).
[[nodiscard]] const throttle_policy &throttle_by_tasks() noexcept;
/// Holds no producer.
[[nodiscard]] const throttle_policy &throttle_none() noexcept;

[[nodiscard]] const throttle_policy &throttle_policy_of(throttle_kind kind) noexcept;

} // namespace rt
} // namespace weft::inline v0

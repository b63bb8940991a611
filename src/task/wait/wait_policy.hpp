// SPDX-License-Identifier: Apache-2.0
// What a task does at a taskwait that is not over: chosen by the setting wait.policy.
//
// A new policy is a file with a class, a row in the table of wait_policy.cpp, and its name in
// src/config/settings.def.
// Bodies: wait_by_help.cpp, wait_by_suspension.cpp, wait_by_sleep.cpp, wait_policy.cpp
#pragma once

#include "config/settings.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Has no state. Asked by every wait for children or for a group, on the thread of the waiter.
class wait_policy {
 public:
  /// Says whether the waiter runs descendants that are ready in its worker's queue on top of its
  /// frame. `helped`: how often it has done so in this wait. Where there is none, it goes on as
  /// sleeps() says.
  [[nodiscard]] virtual bool helps(std::uint32_t helped) const = 0;
  /// Says whether the waiter's thread sleeps while a spare works in its place. False: the thread
  /// goes on with other work.
  [[nodiscard]] virtual bool sleeps() const = 0;

 protected:
  ~wait_policy() = default;
};

/// Runs descendants; suspends the frame when there are none.
[[nodiscard]] const wait_policy &wait_by_help() noexcept;
/// Suspends the frame at once.
[[nodiscard]] const wait_policy &wait_by_suspension() noexcept;
/// Has the thread sleep at once, so that the frame goes on there.
[[nodiscard]] const wait_policy &wait_by_sleep() noexcept;

[[nodiscard]] const wait_policy &wait_policy_of(wait_kind kind) noexcept;

/// Makes the next waits follow a policy. Any thread; waits that have begun end as they began.
void follow_wait_policy(const wait_policy &policy) noexcept;
/// Returns the policy that waits follow.
[[nodiscard]] const wait_policy &wait_policy_in_use() noexcept;

} // namespace rt
} // namespace weft::inline v0

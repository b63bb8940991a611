// SPDX-License-Identifier: Apache-2.0
// Policies: functions of the program that look at counters and set knobs. One thread calls them, one
// after the other: never a worker, so a policy holds up no task.
//
// Roles       The caller: the thread that calls policies. It begins when the runtime runs with
//             tune=on and there is a policy. A definer: enters and withdraws a policy. A notifier:
//             says that an event has happened, any thread.
// Words       those of policy_thread.hpp. g_call_began, g_reported: for the watcher.
// Invariants  I1  A policy's function is called with no lock held; it is not called after
//                 withdraw_policy() has returned.
//             I2  A policy that has thrown is not called again.
//             I3  A call that the end of the program has given up may go on: nothing that it uses is
//                 destroyed.
// Orders      those of policy_thread.hpp
// Progress    A policy that does not return holds up the other policies, and is reported by the
//             watcher. The end of the program waits for it for two seconds.
// Checked by  tests/unit/tune/policies_test.cpp, also under ThreadSanitizer;
//             tests/model/policy_models.cpp
#pragma once

#include "config/settings.hpp"
#include "observe/reading.hpp"
#include "tune/policy_thread.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Is something that happens in the program.
struct policy_event : policy_event_word<> {};
/// Says that an event has happened. Costs one load where no policy listens.
void fire(policy_event &event) noexcept;

/// Is what a policy gets when it is called.
struct policy_moment {
  std::string_view name; ///< the policy's
  std::shared_ptr<const reading> now, interval; ///< counters; the interval is since the last call
};

/// Describes a policy.
struct policy_plan {
  std::string name;
  std::uint64_t period_ns = 0; ///< of an interval, or between two looks at a counter
  std::string counter; ///< not empty: called when it passes `limit`
  double limit = 0;
  bool above = true;
  policy_event *event = nullptr; ///< not null: called when it has happened
  void (*call)(void *context, const policy_moment &moment) = nullptr;
  void *context = nullptr;
};

struct entered_policy;
/// Enters a policy. Throws weft::error: invalid_argument for a name that is taken or empty, a period
/// below 1 ms, a counter's name that cannot be; out_of_resources without a thread.
[[nodiscard]] entered_policy *enter_policy(policy_plan plan);
/// Ends a policy; waits for a call of it that is under way, unless that call withdraws it. Returns false
/// if the end of the program has given that call up: then the caller keeps what the call uses (I3).
[[nodiscard]] bool withdraw_policy(entered_policy *policy) noexcept;
/// Returns how often a policy was called.
[[nodiscard]] std::uint64_t calls_of(const entered_policy &policy) noexcept;
/// Returns whether a policy has thrown, and is not called any more.
[[nodiscard]] bool has_thrown(const entered_policy &policy) noexcept;

/// Sets a knob for a policy. Returns false, after one warning, if that contradicts a policy which came
/// first. Throws as change_knob().
bool set_knob_for_policy(std::string_view policy, std::string_view knob, std::string_view text);

/// Throws a bad setting where those of the built-in policies do not go together.
void check_policies(const settings &chosen);
/// Says whether a built-in policy reads the meter of energy.
[[nodiscard]] inline bool needs_energy(const settings &chosen) noexcept {
  return chosen.tune_workers == worker_goal::energy || chosen.tune_workers == worker_goal::watts;
}
/// Begins to call policies, if there are any, those of the setting tune.workers among them. The caller
/// has the start lock.
void begin_policies(const settings &chosen, unsigned workers);
/// Ends the calls, at the end of the program.
void end_policies() noexcept;
/// Returns 1 while the thread that calls policies runs.
[[nodiscard]] unsigned policy_threads() noexcept;
/// Says whether that thread may call a policy of the program, which may do anything.
[[nodiscard]] bool policies_may_act() noexcept;
/// Reports a policy whose call takes too long. The watcher calls it.
void report_overdue_policy(std::uint64_t now) noexcept;

// Around fork(); of sessions, too.
void policies_before_fork();
void policies_after_fork_in_parent();
/// Keeps the policies of the parent, which are called when the child's runtime begins.
void policies_after_fork_in_child();

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// What sessions and policies have decided: totals for counters, and the newest decisions as
// sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct tuner_totals {
  std::uint64_t trials = 0, decisions = 0, reverts = 0, lost_ns = 0, policy_calls = 0;
};
[[nodiscard]] tuner_totals totals_of_tuner() noexcept;

inline constexpr std::size_t k_kept_decisions = 64;

void count_trials(std::uint64_t trials, double lost_ns) noexcept;
void count_revert() noexcept;
void count_policy_call() noexcept;

/// Notes that `who` has given knobs other values, as in "stencil: partition=4096 (0.61 of the
/// default's cost, 7 trials)", counts it, and puts it into the trace. `of_default`: the cost of the
/// last trial, as a part of the default's; 0: none was made. Any thread.
void note_decision(std::string_view who, std::string_view what, double of_default = 0);
/// Gives decisions a stream of the trace, if there is one. The caller has the start lock.
void trace_decisions();
/// Returns the newest decisions, the oldest first.
[[nodiscard]] std::vector<std::string> newest_decisions();
/// Forgets those of the parent, in the child of a fork() that has locked them.
void decisions_before_fork();
void decisions_after_fork_in_parent();
void decisions_after_fork_in_child();

} // namespace rt
} // namespace weft::inline v0

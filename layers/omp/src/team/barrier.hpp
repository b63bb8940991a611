// SPDX-License-Identifier: Apache-2.0
// Barriers of a team, and waking its members. barrier_words.hpp describes the protocol.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

/// Says whether the cancellation of the region ends a wait at a barrier.
enum class barrier_kind : bool { plain, cancellable };
/// Waits at a barrier inside the region. Returns false if the region was cancelled and the barrier
/// is cancellable.
bool team_barrier(thread &self, barrier_kind kind = barrier_kind::plain);
/// Waits at the barrier at the region's end, after which the member leaves the region.
void final_barrier(thread &self);
void end_barrier_if_due(thread &self, omp_team &team) noexcept;
void cancel_team(thread &self) noexcept;
/// Prepares the team for the first task of the region, and wakes the members that wait.
[[gnu::cold]] void begin_tasks(thread &self, omp_team &team) noexcept;
[[gnu::cold]] void wake_one_idle(thread *self, omp_team &team) noexcept;
/// Wakes the members of [first, end) that are parked.
void wake_range(thread *self, omp_team &team, unsigned first, unsigned end) noexcept;
/// Wakes a member that sleeps at the barrier, so that it can take a task that was made ready. `self`
/// null: the caller is inside Weft.
inline void wake_idle(thread *self, omp_team &team) noexcept {
  if (team.may_have_sleepers()) [[unlikely]]
    wake_one_idle(self, team);
}

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// The place of each member of a team. Any worker may run a lightweight thread; the kernel then
// moves that worker to the cpus of the thread's place.
#pragma once

#include "thread/thread.hpp"

namespace weft_omp {

struct omp_team;

/// Gives each member a place and a place partition, as the ICV or the clause says.
void place_members(omp_team &team, const thread &first, unsigned bind_clause) noexcept;

/// Gives the initial thread of a league's team a place and a place partition, as
/// KMP_TEAMS_PROC_BIND says.
void place_league(thread &who, unsigned teams, unsigned number) noexcept;
/// Unbinds the thread in the child of fork(), so that threads that begin there do not inherit its
/// binding.
void unbind_after_fork(thread &who) noexcept;

/// Keeps the calling thread on these cpus until its region ends.
void keep_on(thread &me, const std::vector<int> &cpus);
/// Moves the calling thread to the cpus of its placement.
inline void settle(thread &who) {
  if (g_binds) [[unlikely]]
    in_core(&who, [] {});
}

} // namespace weft_omp

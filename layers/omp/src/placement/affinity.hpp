// SPDX-License-Identifier: Apache-2.0
// Places: which of them each member of a team is on. A lightweight thread is run by any worker; the kernel moves that worker to the cpus of
// the thread's place.
#pragma once

#include "thread/thread.hpp"

namespace weft_omp {

struct omp_team;

/// Gives each member a place, and the partition of it, as the ICV or the clause says.
void place_members(omp_team &c, const thread &first, unsigned bind_clause) noexcept;

/// The same for the initial thread of a league's team, as KMP_TEAMS_PROC_BIND says.
void place_league(thread &t, unsigned teams, unsigned number) noexcept;
/// Threads that begin in the child are not to inherit what this one was bound to.
void unbind_after_fork(thread &t) noexcept;

/// An interned list of cpus, never freed: kernel threads remember which they follow.
[[nodiscard]] const std::vector<int> *interned(const std::vector<int> &cpus);
/// The calling thread stays on these cpus until its region ends.
void keep_on(thread &me, const std::vector<int> &cpus);
/// To the cpus that the thread is to be on now.
inline void settle(thread &t) {
  if (g_binds) [[unlikely]]
    in_core(&t, [] {});
}

/// OMP_DISPLAY_AFFINITY, of who begins a region: whether the members display their placement, because that of one of them has changed.
[[gnu::cold]] void compare_placements(omp_team &c) noexcept;
/// The calling member tells it, if so.
void show_affinity(const thread &t) noexcept;
/// A line, where the user looks for it.
void print_affinity(const char *format) noexcept;

/// The text of an affinity format for the calling thread.
std::string affinity_text(const char *format);

} // namespace weft_omp

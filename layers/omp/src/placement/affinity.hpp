// SPDX-License-Identifier: Apache-2.0
// The place of each member of a team. Any worker may run a lightweight thread; the kernel then
// moves that worker to the cpus of the thread's place.
#pragma once

#include "thread/thread.hpp"

namespace weft_omp {

struct omp_team;

/// Gives each member a place and a place partition, as the ICV or the clause says.
void place_members(omp_team &c, const thread &first, unsigned bind_clause) noexcept;

/// Gives the initial thread of a league's team a place and a place partition, as
/// KMP_TEAMS_PROC_BIND says.
void place_league(thread &t, unsigned teams, unsigned number) noexcept;
/// Unbinds the thread in the child of fork(), so that threads that begin there do not inherit its
/// binding.
void unbind_after_fork(thread &t) noexcept;

/// Keeps the calling thread on these cpus until its region ends.
void keep_on(thread &me, const std::vector<int> &cpus);
/// Moves the calling thread to the cpus of its placement.
inline void settle(thread &t) {
  if (g_binds) [[unlikely]]
    in_core(&t, [] {});
}

/// Decides, for OMP_DISPLAY_AFFINITY, whether the members display their placements: they do if the
/// placement of one of them has changed.
/// Called by the thread that begins a region.
[[gnu::cold]] void compare_placements(omp_team &c) noexcept;
/// Displays the placement of the calling member, if compare_placements() has decided so.
void show_affinity(const thread &t) noexcept;
/// Prints a line in this format: to standard output in LLVM's flavor, else to standard error.
void print_affinity(const char *format) noexcept;

/// Returns the text of an affinity format for the calling thread.
std::string affinity_text(const char *format);

} // namespace weft_omp

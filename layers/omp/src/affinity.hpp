// SPDX-License-Identifier: Apache-2.0
// Places: which of them each member of a team is said to stand on. Lightweight threads go where there is work; a place is a number to them.
#pragma once

#include "icv.hpp"

namespace weft_omp {

struct team;
struct thread;

/// Gives each member a place, and the partition of it, as the ICV or the clause says.
void place_members(team &c, const thread &first, unsigned bind_clause) noexcept;

/// OMP_DISPLAY_AFFINITY: one line when something about the thread has changed.
void show_affinity(thread &t) noexcept;

/// The text of an affinity format for the calling thread.
std::string affinity_text(const char *format);

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// Placements as text: OMP_DISPLAY_AFFINITY and its format.
#pragma once

#include "thread/thread.hpp"

#include <string>

namespace weft_omp {

struct omp_team;

/// Decides, for OMP_DISPLAY_AFFINITY, whether the members display their placements: they do if the
/// placement of one of them has changed.
/// Called by the thread that begins a region.
[[gnu::cold]] void compare_placements(omp_team &team) noexcept;
/// Displays the placement of the calling member, if compare_placements() has decided so.
void show_affinity(const thread &who) noexcept;
/// Prints a line in this format: to standard output in LLVM's flavor, else to standard error.
void print_affinity(const char *format) noexcept;
/// Returns the text of an affinity format for the calling thread.
std::string affinity_text(const char *format);

} // namespace weft_omp

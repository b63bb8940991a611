// SPDX-License-Identifier: Apache-2.0
// How the members of an oversubscribed team wait: see docs/design/openmp.md. Each worker has a leaf
// of the barrier: a range of the members, by their numbers.
// A member that finds nothing else to run on its worker watches for what the worker's leaf waits
// for, and wakes the leaf.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

[[nodiscard]] unsigned leaves_wanted() noexcept;
/// Divides the members among the leaves.
void lay_out_leaves(omp_team &team);

/// Describes a condition that members of an oversubscribed team wait for, and that one member on
/// each worker watches.
struct expected {
  std::uint64_t what; // never used again; not 0
  bool (*is_there)(const parker::reason &); // seq_cst
  parker::reason missing; // likewise; it also ends when there is something else to look at
  bool wakes; // a watching member that sees it come true wakes the leaf
};
/// Waits until the condition is true, or there is something else to look at.
void rest(thread &self, omp_team &team, const expected &awaited) noexcept;
/// Wakes the leaves for which no member watches the condition `what`, which is true now.
void wake_leaves(thread &self, omp_team &team, std::uint64_t what) noexcept;

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// How members wait of a team that has more of them than there are workers: see docs/design/openmp.md. Each worker has a leaf of the barrier, a part of the members by their numbers, that it
// wakes when it has nothing else to do than to watch for what they wait for.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

[[nodiscard]] unsigned leaves_wanted() noexcept;
/// Which members are on which.
void lay_out_leaves(omp_team &c);

/// What is waited for in an oversubscribed team, and watched for by one on each leaf.
struct expected {
  std::uint64_t what; // never comes again; not 0
  bool (*is_there)(const parker::reason &); // seq_cst
  parker::reason missing; // likewise; there may be something else to look at, too
  bool wakes; // who sees it wakes its leaf
};
/// Until it is there, or something else is to be looked at.
void rest(thread &t, omp_team &c, const expected &x) noexcept;
/// It is there: for those on leaves where nobody watches for it.
void wake_leaves(thread &me, omp_team &c, std::uint64_t what) noexcept;

} // namespace weft_omp

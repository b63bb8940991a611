// SPDX-License-Identifier: Apache-2.0
// Sinks and sources. For each iteration of the loops that a team shares a word counts how many of its
// inner iterations are posted, in the order of the nest: one member runs all of these.
// ordered.hpp describes how members wait for posts.
#pragma once

#include "workshare/workshare.hpp"

namespace weft_omp {

/// Sets up, posts to and waits for an ordering by sinks and sources.
void set_doacross(thread &self, workshare &share, unsigned count, const std::uint64_t *counts);
/// Says how many iterations the members share, before they run any: so many iterations have the loops
/// that are collapsed together, which an LLVM compiler does not say when it sets the ordering up. Each
/// member calls it. The extents are one too large where the compiler has passed numbers of iterations
/// as last values; then `may_be_numbers` is set.
void share_doacross(thread &self, std::uint64_t iterations, bool may_be_numbers);
void post(thread &self, const std::uint64_t *where) noexcept;
void wait_for(thread &self, const std::uint64_t *where) noexcept;
void free_doacross(workshare &share) noexcept;
/// Returns the number of loops in the nest that the member's region orders. 0: it orders nothing.
[[nodiscard]] unsigned depth_of_doacross(const thread &self) noexcept;

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// Sinks and sources. For each outermost iteration a word counts how many of its inner iterations
// are posted, in the order of the nest.
// ordered.hpp describes how members wait for posts.
#pragma once

#include "workshare/workshare.hpp"

namespace weft_omp {

/// Sets up, posts to and waits for an ordering by sinks and sources.
void set_doacross(thread &self, workshare &share, unsigned count, const std::uint64_t *counts);
void post(thread &self, const std::uint64_t *where) noexcept;
void wait_for(thread &self, const std::uint64_t *where) noexcept;
void free_doacross(workshare &share) noexcept;
/// Returns the number of loops in the nest that the member's region orders. 0: it orders nothing.
[[nodiscard]] unsigned depth_of_doacross(const thread &self) noexcept;

} // namespace weft_omp

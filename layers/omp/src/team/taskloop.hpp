// SPDX-License-Identifier: Apache-2.0
// The tasks of a taskloop that names no number.
#pragma once

#include "team/team.hpp"

#include <cstdint>

namespace weft_omp {

/// Returns how many tasks such a loop makes: more than there are members, because a member cannot
/// take a part of what another one has begun.
[[nodiscard]] inline std::uint64_t tasks_of_loop(const omp_team &team) noexcept {
  return team.size == 1 ? 1 : std::uint64_t{8} * team.size;
}

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
#include "round.hpp"

namespace inncabs {

std::uint64_t round::play(std::size_t player, long work) {
  std::uint64_t points = player + 1;
  for (long i = 0; i < work; ++i)
    points = mix(points + 1);
  return points;
}

} // namespace inncabs

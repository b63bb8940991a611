// SPDX-License-Identifier: Apache-2.0
// The partition of iterations, chunks or places into consecutive parts of nearly equal size.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace weft_omp {

/// Is a part: [begin, end).
template <std::unsigned_integral N>
struct part_of_all {
  N begin, end;
};

/// Returns part `number` of the `parts` parts of `total`. If the division has a remainder, the first parts
/// get one more.
template <std::unsigned_integral N>
[[nodiscard]] constexpr part_of_all<N> even_part(N total, std::type_identity_t<N> parts,
                                                 std::type_identity_t<N> number) noexcept {
  const N each = total / parts, more = total % parts,
          begin = number * each + std::min(number, more);
  return {begin, begin + each + (number < more)};
}

} // namespace weft_omp

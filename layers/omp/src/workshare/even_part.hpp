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

/// Returns part `i` of the `n` parts of `total`. If the division has a remainder, the first parts
/// get one more.
template <std::unsigned_integral N>
[[nodiscard]] constexpr part_of_all<N> even_part(N total, std::type_identity_t<N> n,
                                                 std::type_identity_t<N> i) noexcept {
  const N each = total / n, more = total % n, begin = i * each + std::min(i, more);
  return {begin, begin + each + (i < more)};
}

} // namespace weft_omp

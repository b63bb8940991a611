// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace weft::inline v0::detail {

/// Returns a duration, rounded up. A duration that does not fit, hours::max() for example, becomes
/// the longest one that does.
template <class Rep, class Period>
[[nodiscard]] constexpr std::int64_t whole_nanoseconds(std::chrono::duration<Rep, Period> time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (!(seconds < 9.2e9))
    return INT64_MAX;
  return seconds <= 0 ? 0 : std::chrono::ceil<std::chrono::nanoseconds>(time).count();
}

} // namespace weft::inline v0::detail

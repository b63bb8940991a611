// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace weft::inline v0 {
namespace rt {

/// Returns the nanoseconds of CLOCK_MONOTONIC. Costs a vDSO call.
inline std::uint64_t now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace rt
} // namespace weft::inline v0

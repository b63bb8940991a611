// SPDX-License-Identifier: Apache-2.0
// Durations from the processor's clock. Its rate is measured against the system's clock, once enough time has passed since the library was
// loaded.
#pragma once

#include "arch/ticks.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {

[[gnu::visibility("hidden")]] extern bool g_ticks_are_steady; // written when the library is loaded
extern std::atomic<std::uint64_t> g_tick_scale; // ns per tick, times 2^32; 0: not known yet

/// Says what calibrate_ticks() does if the library was loaded too short a time ago.
enum class too_early { gives_up, waits };
/// Measures the rate, once enough time has passed since the library was loaded. Returns false if the
/// rate is not known yet.
bool calibrate_ticks(too_early then = too_early::gives_up) noexcept;
[[nodiscard]] inline bool ticks_are_calibrated() noexcept {
  return g_tick_scale.load(std::memory_order_relaxed) != 0 || calibrate_ticks();
}
/// Reads the clock; the value is good for differences only.
[[nodiscard]] inline std::uint64_t read_ticks() noexcept {
  return g_ticks_are_steady ? processor_ticks() : now_ns();
}
/// Converts ticks; after ticks_are_calibrated().
[[nodiscard]] inline std::uint64_t ticks_to_ns(std::uint64_t ticks) noexcept {
  __extension__ typedef unsigned __int128 wide;
  return static_cast<std::uint64_t>((wide{ticks} * g_tick_scale.load(std::memory_order_relaxed)) >>
                                    32);
}

} // namespace rt
} // namespace weft::inline v0

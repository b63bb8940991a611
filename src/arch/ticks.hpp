// SPDX-License-Identifier: Apache-2.0
// The processor's own clock: read in a few nanoseconds. Its rate has to be measured
// (observe/tick_clock.hpp).
#pragma once

#include "base/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::inline v0 {
namespace rt {

#if defined(__x86_64__)
inline std::uint64_t processor_ticks() noexcept { return __builtin_ia32_rdtsc(); }
/// Returns whether the clock counts at one rate on all cpus, asleep or not. If not, the system's
/// clock is read instead.
inline bool ticks_are_steady() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}
#elif defined(__aarch64__)
inline std::uint64_t processor_ticks() noexcept {
  std::uint64_t t;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
}
inline bool ticks_are_steady() noexcept { return true; }
#else
inline std::uint64_t processor_ticks() noexcept { return now_ns(); }
inline bool ticks_are_steady() noexcept { return false; }
#endif

} // namespace rt
} // namespace weft::inline v0

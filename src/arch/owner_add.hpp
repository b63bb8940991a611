// SPDX-License-Identifier: Apache-2.0
// A count that one thread, its owner, adds to, and that any thread reads, also of another process.
#pragma once

#include "arch/sanitizer.hpp"
#include "weft/config.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Adds to the count. Owner only: it is not atomic against other writers; readers see whole values.
WEFT_INLINE void count(std::uint64_t &counter, std::uint64_t n = 1) noexcept {
#if defined(__x86_64__) && !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
  asm volatile("addq %1, %0"
               : "+m"(counter)
               : "er"(n)
               : "cc"); // one instruction, no lock: a compiler makes three of the lines below
#else
  __atomic_store_n(&counter, counter + n, __ATOMIC_RELAXED);
#endif
}

inline void put(std::uint64_t &counter, std::uint64_t value) noexcept {
  __atomic_store_n(&counter, value, __ATOMIC_RELAXED);
}
[[nodiscard]] inline std::uint64_t peek(const std::uint64_t &counter) noexcept {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Flags that one thread writes and any thread reads.
#pragma once

#include "arch/sanitizer.hpp"
#include "weft/config.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Returns whether one of these flags is set, by one relaxed load.
[[nodiscard]] WEFT_INLINE bool test_flags(const std::uint8_t &flags, std::uint8_t wanted) noexcept {
#if defined(__x86_64__) && !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
  bool found;
  asm volatile("testb %2, %1" // one instruction: a compiler loads an atomic into a register first
               : "=@ccnz"(found)
               : "m"(flags), "qi"(wanted));
  return found;
#else
  return (__atomic_load_n(&flags, __ATOMIC_RELAXED) & wanted) != 0;
#endif
}

/// Returns the same for two bytes side by side, which are aligned as a word of 16 bits.
[[nodiscard]] WEFT_INLINE bool test_bits_of_two(const void *bytes, std::uint16_t wanted) noexcept {
  using two_bytes [[gnu::may_alias]] = std::uint16_t;
  const two_bytes &flags = *static_cast<const two_bytes *>(bytes);
#if defined(__x86_64__) && !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
  bool found;
  asm volatile("testw %2, %1" : "=@ccnz"(found) : "m"(flags), "ri"(wanted));
  return found;
#else
  return (__atomic_load_n(&flags, __ATOMIC_RELAXED) & wanted) != 0;
#endif
}

} // namespace rt
} // namespace weft::inline v0

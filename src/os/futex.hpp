// SPDX-License-Identifier: Apache-2.0
// futex(2) on a 32-bit word of this process. Only the kernel's promise: a wait returns at once when the word is not
// `expected`, and may return for no reason; callers loop.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::uint64_t k_no_deadline = UINT64_MAX;

enum class futex_result {
  maybe_woken, ///< woken, interrupted by a signal, or the word had changed
  timed_out,
};

/// Sleeps while `word` is `expected`, at the longest until `deadline_ns` of CLOCK_MONOTONIC (see now_ns()).
futex_result futex_wait(const std::atomic<std::uint32_t> &word, std::uint32_t expected,
                        std::uint64_t deadline_ns = k_no_deadline) noexcept;

/// Wakes at most `count` sleepers; returns how many. The word's memory need not be valid any more.
int futex_wake(const std::atomic<std::uint32_t> &word, int count) noexcept;
int futex_wake_all(const std::atomic<std::uint32_t> &word) noexcept;

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

// Supplied by os/.

/// Executes the slow half of the asymmetric barrier: when it returns, every other thread of the
/// process has executed a full barrier since the call began. Uses membarrier(2) where the kernel
/// has it; see os/membarrier.cpp.
void os_heavy_barrier() noexcept;

/// Sleeps while `word` holds `expected`, at most until `deadline_ns` of the monotonic clock (0: for ever). False when
/// the deadline passed; true does not promise that the word changed.
bool os_futex_wait(std::atomic<std::uint32_t> &word, std::uint32_t expected,
                   std::int64_t deadline_ns) noexcept;
void os_futex_wake(std::atomic<std::uint32_t> &word, int count) noexcept;

/// Is a word in memory that processes share, with the value that it had when it was seen.
struct shared_word {
  const std::uint32_t *word = nullptr; ///< null: there is none
  std::uint32_t seen = 0;
};
/// Sleeps as os_futex_wait() does, and only while `other` holds what was seen of it, too. Returns
/// whether to look at `word` again: false when the deadline passed or `other` changed. A kernel
/// before Linux 5.16 does not notice a change of `other`.
bool os_futex_wait_either(std::atomic<std::uint32_t> &word, std::uint32_t expected,
                          std::int64_t deadline_ns, const shared_word &other) noexcept;
/// Wakes the threads of all processes that sleep on a shared word.
void os_futex_wake_shared(const std::uint32_t *word) noexcept;
// Libraries of layers replace sched_yield(), usleep() and nanosleep(): a lightweight thread lets others run
// there on its kernel thread. What a spin waits for may need that, so os_yield() is sched_yield(). A
// caller that holds a mutex of Weft must not be left: it sleeps by os_sleep(), which is the kernel's.
void os_yield() noexcept;
/// Sleeps for a time, or less if a signal comes.
void os_sleep(std::int64_t ns) noexcept;

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// The library's policy for lock-free components (weft_common/atomics.hpp). It adds:
//   P::light_barrier(), P::heavy_barrier()
//                           the two halves of an asymmetric StoreLoad barrier (see below)
//   P::futex_wait(a, expected, deadline_ns), P::futex_wake(a, count)
//                           sleep in the kernel while a 32-bit atomic holds a value; may wake for no reason
#pragma once

#include "atomic/hooks.hpp"

#include <weft_common/atomics.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

using weft_common::cpu_pause;

/// Is true if light barriers must be real ones (no membarrier, or a thread sanitizer build).
/// Written once at load time.
[[gnu::visibility("hidden")]] extern bool g_light_barrier_is_full;
/// Orders threads by a read-modify-write of one word that all of them share, which ThreadSanitizer
///        understands.
alignas(128) inline std::atomic<std::uint32_t> g_meeting{0};
inline void full_barrier() noexcept {
  g_meeting.fetch_add(1, std::memory_order_seq_cst); // O1 of os/membarrier.cpp
}

/// Keeps words that different threads write this far apart: two lines, because x86 prefetches lines
/// in pairs.
inline constexpr std::size_t k_apart = 128;
/// Is the distance between the elements of an array of such words, where pairs would cost too much
/// memory.
inline constexpr std::size_t k_line = 64;

/// Bounds a spin. So many pauses of 6 to 25 ns take 1 to 5 us, about what parking and waking cost.
/// With 8 threads on 2 cpus a ticket_lock then costs 0.13 us of cpu per acquisition, 0.59 us without
/// spinning and 0.28 us with 1000 spins.
inline constexpr int k_looks = 200;

struct real_atomics : weft_common::std_atomics<&os_yield, k_looks> {
  /// Orders earlier stores before later loads against a thread that calls heavy_barrier() between its own store and
  /// load. Costs nothing but a compiler barrier where membarrier exists.
  static void light_barrier() noexcept {
    if (g_light_barrier_is_full) [[unlikely]]
      full_barrier();
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void heavy_barrier() noexcept { os_heavy_barrier(); }

  static bool futex_wait(std::atomic<std::uint32_t> &word, std::uint32_t expected,
                         std::int64_t deadline_ns = 0) noexcept {
    return os_futex_wait(word, expected, deadline_ns);
  }
  static void futex_wake(std::atomic<std::uint32_t> &word, int count) noexcept {
    os_futex_wake(word, count);
  }
};

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// The policy through which every lock-free component touches memory. Production code uses `real_atomics`, which is
// std::atomic and nothing else; the model checker in tests/model supplies a policy of the same shape that explores
// interleavings and stale reads. A component is a template `template <class P = real_atomics>` and uses only:
//   P::atomic<T>            std::atomic's load, store, exchange, compare_exchange_*, fetch_*
//   P::var<T>               plain memory; the checker reports a data race on it
//   P::await(a, pred, mo)   spin until pred(a.load(mo)) holds (short waits only: it yields, but never parks)
//   P::pause()              a spin hint inside a hand-written retry loop
//   P::yield()              gives the cpu away inside a retry loop that may take longer
//   P::light_barrier(), P::heavy_barrier()
//                           the two halves of an asymmetric StoreLoad barrier (see below)
//   P::futex_wait(a, expected, deadline_ns), P::futex_wake(a, count)
//                           sleep in the kernel while a 32-bit atomic holds a value; may wake for no reason
//   P::k_spins              how often a waiter looks before it parks
// The checker weakens every order written at a call of these, by its place in the source, and expects a model to fail:
// a component needs no code for that, but it must write its orders out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Executes the slow half of the asymmetric barrier: when it returns, every other thread of the
/// process has executed a full barrier since the call began. Uses membarrier(2) where the kernel
/// has it; see os/membarrier.cpp.
void os_heavy_barrier() noexcept;

/// Is true if light barriers must be real ones (no membarrier, or a thread sanitizer build).
/// Written once at load time.
[[gnu::visibility("hidden")]] extern bool g_light_barrier_is_full;
/// Orders threads by a read-modify-write of one word that all of them share, which ThreadSanitizer
///        understands.
alignas(128) inline std::atomic<std::uint32_t> g_meeting{0};
inline void full_barrier() noexcept {
  g_meeting.fetch_add(1, std::memory_order_seq_cst); // O1 of os/membarrier.cpp
}

/// Sleeps while `word` holds `expected`, at most until `deadline_ns` of the monotonic clock (0: for ever). False when
/// the deadline passed; true does not promise that the word changed.
bool os_futex_wait(std::atomic<std::uint32_t> &word, std::uint32_t expected,
                   std::int64_t deadline_ns) noexcept;
void os_futex_wake(std::atomic<std::uint32_t> &word, int count) noexcept;
void os_yield() noexcept;

/// Keeps words that different threads write this far apart: two lines, because x86 prefetches lines
/// in pairs.
inline constexpr std::size_t k_apart = 128;
/// Is the distance between the elements of an array of such words, where pairs would cost too much
/// memory.
inline constexpr std::size_t k_line = 64;

struct real_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  /// Bounds a spin. So many pauses of 6 to 25 ns take 1 to 5 us, about what parking and waking
  /// cost. With 8 threads on 2 cpus a ticket_lock then costs 0.13 us of cpu per acquisition, 0.59
  /// us without spinning and 0.28 us with 1000 spins.
  static constexpr int k_spins = 200;

  template <class T>
  struct var {
    T value{};
    T get() const noexcept { return value; }
    void set(T v) noexcept { value = v; }
  };

  template <class A, class Pred>
  static auto await(const A &a, Pred pred, std::memory_order order) noexcept {
    auto v = a.load(order);
    for (int spins = 0; !pred(v); v = a.load(order)) {
      if (++spins < k_spins)
        cpu_pause();
      else
        os_yield();
    }
    return v;
  }

  static void pause() noexcept { cpu_pause(); }
  static void yield() noexcept { os_yield(); }

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

// SPDX-License-Identifier: Apache-2.0
// Spinning: a lock for a few instructions, and a bounded wait before a thread is parked.
//
// Roles       Any thread. unlock is called by who holds the lock.
// Word        m_held: true while someone holds it.
// Orders      O1  exchange acquire, with O2: what the last holder wrote is seen.
//             O2  store release, with O1.
// Progress    Blocking, not fair. A holder never waits for anything.
#pragma once

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft_omp {

inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The kernel may run another thread of its own. sched_yield() is this layer's: see yield.cpp.
inline void yield_kernel_thread() noexcept { syscall(SYS_sched_yield); }

/// Held by the thread whose block is in use: it is not to be interrupted.
extern thread_local int t_spin_locks __attribute__((tls_model("initial-exec")));

class spin_lock {
 public:
  void lock() noexcept {
    ++t_spin_locks;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (int looks = 0; m_held.exchange(true, std::memory_order_acquire);) // O1
      while (m_held.load(std::memory_order_relaxed))
        if (++looks % 64 == 0)
          yield_kernel_thread(); // the holder may have lost its cpu
        else
          cpu_pause();
  }
  void unlock() noexcept {
    m_held.store(false, std::memory_order_release); // O2
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --t_spin_locks;
  }

 private:
  std::atomic<bool> m_held{false};
};

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// The word on which one thread waits until another thread signals it, or until the state that it
// waits for has changed.
//
// Roles       Waiter: the thread that owns the word: is_signalled, clear; publish, once it has left
//             its stack. Waker: any other thread: signal, take.
// Word        null, the token (signalled), or the frame that the waiter has left.
// Invariants  I1  A signal that comes first is kept; only one is kept.
//             I2  A frame is handed out once: to the waker that signals, to the waker that takes,
//                 or back to the waiter that has published it.
// Orders      O1  compare_exchange seq_cst, with O2 and O4: the waiter publishes its frame, and the
//                 thread that resumes the frame sees the suspended stack; and O5.
//             O2  exchange acq_rel: the waker takes the frame, and publishes what it did before the
//                 signal.
//             O3  exchange acquire, with O2: the waiter sees what the waker did before the signal.
//             O4  load seq_cst, with O1 and O5: the waker changes the state (seq_cst), then loads
//                 the word. compare_exchange acquire, with O1: the waker sees the stack.
//             O5  The waiter publishes its frame (O1), then reads the state again (seq_cst), and
//                 the waker does O4. At least one of the two sees the write of the other (Dekker).
//             O6  compare_exchange acquire: the waiter takes its frame back. Meanwhile another
//                 thread may have resumed that frame, and the frame may have been published again
//                 at the same address.
// Progress    Wait-free, but for what `holds` does.
// Checked by  tests/model/layers/omp_wait_models.cpp: omp_parker_*
#pragma once

#include "weft_threads/sync/atomics.hpp"
#include "weft_threads/sync/mutant.hpp"

#include <cstdint>

namespace weft_threads {

template <class Frame, class P = real_atomics>
class parker_word {
 public:
  /// Publishes the frame, unless it may continue.
  /// True: the frame is published, and the caller does not touch it any more.
  /// False: the frame continues at once, because a waker has signalled it or `holds` is no longer
  /// true.
  template <class Holds>
  [[nodiscard]] bool publish(Frame &suspended, Holds holds) noexcept {
    Frame *expected = nullptr;
    if (!m_word.compare_exchange_strong(expected, &suspended, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) // O1
      return unless(bug::omp_parker_loses_signal, false, true);
    if (unless(bug::omp_parker_sleeps_blindly, [&] { return holds(); }, true)) // O5
      return true;
    expected = &suspended;
    return !m_word.compare_exchange_strong(expected, nullptr, std::memory_order_acquire,
                                           std::memory_order_relaxed); // I2, O6
  }
  [[nodiscard]] bool is_signalled() const noexcept {
    return m_word.load(std::memory_order_relaxed) != nullptr;
  }
  void clear() noexcept {
    if (is_signalled())
      m_word.exchange(nullptr, std::memory_order_acquire); // O3
  }

  /// Leaves a signal. Returns the frame that the caller must resume, or null.
  [[nodiscard]] Frame *signal() noexcept {
    Frame *const before = m_word.exchange(
        token(), order_unless(bug::omp_parker_signal_relaxed, std::memory_order_acq_rel)); // O2
    return before != token() ? before : nullptr;
  }
  /// Takes the frame without leaving a signal. Null: no frame is published, and a waiter that
  /// publishes one now sees the changed state.
  [[nodiscard]] Frame *take() noexcept {
    Frame *there = m_word.load(std::memory_order_seq_cst); // O4
    if (!there || there == token() ||
        !m_word.compare_exchange_strong(there, nullptr, std::memory_order_acquire,
                                        std::memory_order_relaxed)) // O4
      return nullptr;
    return there;
  }

 private:
  static Frame *token() noexcept { return reinterpret_cast<Frame *>(std::uintptr_t{1}); }
  typename P::template atomic<Frame *> m_word{nullptr};
};

} // namespace weft_threads

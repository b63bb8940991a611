// SPDX-License-Identifier: Apache-2.0
// Where one thread waits until somebody signals it, or until what it waits for is there.
//
// Roles       Owner: is_signalled, clear; publish, when its stack has been left. Others: signal, take.
// Word        null, k_signalled, or the frame that was left.
// Invariants  I1  A signal that comes first is kept, one of them.
//             I2  A frame is handed out once: to who signals, to who takes, or back to who published it.
// Orders      O1  compare_exchange seq_cst, with O2 and O4: who resumes sees the suspended stack; and O5.
//             O2  exchange acq_rel: takes the frame; publishes what the signal is about.
//             O3  exchange acquire, with O2.
//             O4  load seq_cst of who wakes, after it has changed (seq_cst) what is waited for, with O1; and compare_exchange acquire, for the stack
//             O5  ... after which who is parked looks at that again: one of the two sees the other.
//             O6  compare_exchange acquire of who takes its frame back: it may have gone on meanwhile, and lie there again, at the same place.
// Progress    Wait-free, but for what `holds` does.
// Checked by  tests/model/omp_wait_models.cpp: omp_parker_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class Frame, class P = real_atomics>
class parker_word {
 public:
  /// False: the frame may go on at once, for it was signalled meanwhile or what it waits for is there. True: the last touch of it.
  template <class Holds>
  [[nodiscard]] bool publish(Frame &f, Holds holds) noexcept {
    Frame *expected = nullptr;
    if (!m_word.compare_exchange_strong(expected, &f, std::memory_order_seq_cst, std::memory_order_relaxed)) // O1
      return mutant(bug::omp_parker_loses_signal);
    if (mutant(bug::omp_parker_sleeps_blindly) || holds()) // O5
      return true;
    expected = &f;
    return !m_word.compare_exchange_strong(expected, nullptr, std::memory_order_acquire, std::memory_order_relaxed); // I2, O6
  }
  [[nodiscard]] bool is_signalled() const noexcept { return m_word.load(std::memory_order_relaxed) != nullptr; }
  void clear() noexcept {
    if (is_signalled())
      m_word.exchange(nullptr, std::memory_order_acquire); // O3
  }

  /// The frame that is to go on, or null.
  [[nodiscard]] Frame *signal() noexcept {
    Frame *const before = m_word.exchange(token(), order_unless(bug::omp_parker_signal_relaxed, std::memory_order_acq_rel)); // O2
    return before != token() ? before : nullptr;
  }
  /// The same without a signal: null where nobody is parked, and who comes now sees that what it waits for is there.
  [[nodiscard]] Frame *take() noexcept {
    Frame *there = m_word.load(std::memory_order_seq_cst); // O4
    if (!there || there == token() || !m_word.compare_exchange_strong(there, nullptr, std::memory_order_acquire, std::memory_order_relaxed)) // O4
      return nullptr;
    return there;
  }

 private:
  static Frame *token() noexcept { return reinterpret_cast<Frame *>(std::uintptr_t{1}); }
  typename P::template atomic<Frame *> m_word{nullptr};
};

} // namespace weft_omp

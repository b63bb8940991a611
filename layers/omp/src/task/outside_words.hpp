// SPDX-License-Identifier: Apache-2.0
// What a task waits for that is no task: one call that lets it go on, and events that keep it from being complete.
//
// Roles       Runner: the thread that runs the task: begin_block, is_blocked; increase, end_body. Others: unblock; decrease, fulfil.
// Word        block_state: null, k_token (an unblock came first), or the thread that sleeps in the task.
//             hold_state: events, plus k_body_over, plus k_fulfilled once the event of a detach clause is; of a task without that clause from its first event on.
// Invariants  I1  The token is taken away by the runner only; who takes the thread out wakes it: once per block.
//             I2  At most one unblock is kept; a second one changes nothing.
//             I3  hold_state is k_over after one operation only: whoever does it ends the task. Events are added while the body runs.
//             I4  A decrease that would take more than there is changes nothing.
// Orders      O1  begin_block release, with O2: what is woken is a thread that sleeps, or will look.
//             O2  unblock compare_exchange acq_rel: with O1 and O3.
//             O3  load and compare_exchange acquire: what came before the unblock.
//             O4  end_body, fulfil, decrease acq_rel: who ends the task sees what all of them did.
//             O5  load acquire, with O4: what was done before the events were decreased.
// Progress    Wait-free, but for the loops of unblock and decrease, which are lock-free.
// Reclamation The words live in the task: who unblocks or decreases keeps it incomplete by that. Threads' own data are never freed.
// Checked by  tests/model/omp_outside_models.cpp: omp_outside_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class Thread, class P = real_atomics>
class basic_block_state {
 public:
  /// False: an unblock came first, and is consumed. Else the thread sleeps while is_blocked().
  [[nodiscard]] bool begin_block(Thread &runner) noexcept {
    Thread *seen = nullptr;
    if (m_word.compare_exchange_strong(seen, &runner, std::memory_order_release, std::memory_order_acquire)) // O1, O3
      return true;
    m_word.store(nullptr, std::memory_order_relaxed); // I1
    return false;
  }
  [[nodiscard]] bool is_blocked(const Thread &runner) const noexcept { return m_word.load(std::memory_order_acquire) == &runner; } // O3

  struct unblocked {
    bool accepted; // false: an earlier unblock still waits for its block
    Thread *sleeps; // to be woken, which may come too late for it; null: nobody was blocked yet
  };
  /// The last touch of the task, if it was blocked.
  unblocked unblock() noexcept {
    Thread *seen = m_word.load(std::memory_order_relaxed);
    do {
      if (seen == token())
        return {false, nullptr};
    } while (!m_word.compare_exchange_weak(seen, seen ? nullptr : token(),
                                           order_unless(bug::omp_outside_unblock_relaxed, std::memory_order_acq_rel), // O2
                                           std::memory_order_relaxed));
    return {true, seen};
  }

 private:
  static Thread *token() noexcept { return reinterpret_cast<Thread *>(std::uintptr_t{1}); }
  typename P::template atomic<Thread *> m_word{nullptr};
};

template <class P = real_atomics>
class basic_hold_state {
 public:
  static constexpr std::uint64_t k_most = (std::uint64_t{1} << 40) - 1; // events

  enum class decreased { some_left, none_left, task_is_over, underflow };

  /// `first`: the task has had neither an event nor a detach clause. Returns whether it had none at the moment.
  bool increase(std::uint64_t n, bool first) noexcept {
    return (m_word.fetch_add(n + (first ? k_fulfilled : 0), std::memory_order_relaxed) & k_most) ==
           0; // who decreases has learnt of it by other means
  }
  /// True: the caller ends the task.
  [[nodiscard]] bool end_body() noexcept { return (m_word.fetch_or(k_body_over, std::memory_order_acq_rel) | k_body_over) == k_over; } // O4
  /// The same.
  [[nodiscard]] bool fulfil() noexcept { return (m_word.fetch_or(k_fulfilled, std::memory_order_acq_rel) | k_fulfilled) == k_over; } // O4
  /// By one at least. `task_is_over`: the caller ends it.
  [[nodiscard]] decreased decrease(std::uint64_t n) noexcept {
    std::uint64_t now = m_word.load(std::memory_order_relaxed);
    do {
      if ((now & k_most) < n)
        return decreased::underflow;
    } while (!m_word.compare_exchange_weak(now, now - n, std::memory_order_acq_rel, std::memory_order_relaxed)); // O4
    if (now - n == k_over)
      return mutant(bug::omp_outside_last_missed) ? decreased::some_left : decreased::task_is_over;
    return ((now - n) & k_most) == 0 ? decreased::none_left : decreased::some_left;
  }
  /// Of the runner.
  [[nodiscard]] bool any() const noexcept { return (m_word.load(std::memory_order_acquire) & k_most) != 0; } // O5

 private:
  static constexpr std::uint64_t k_body_over = std::uint64_t{1} << 62, k_fulfilled = std::uint64_t{1} << 61, k_over = k_body_over | k_fulfilled;
  typename P::template atomic<std::uint64_t> m_word{0};
};

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// External events: reasons outside of Weft for which a task is not complete yet.
//
// Roles       Running task: increase, any, used. Any thread: decrease. Ender: the worker that ends
//             the body; it calls end_body, once per run. Last: the thread that takes the word to
//             zero; it ends the task, or calls begin_again. m_used belongs to these in that order.
// Words       m_word: the events, plus k_body from the first increase until the body has ended.
//             m_used: an event was increased in this run; else m_word is not touched.
// Invariants  I1  The word reaches zero once per run in which an event was increased: when the body
//                 has ended and no event is left.
//             I2  A decrease by more than the events that are left changes nothing.
// Orders      O1  decrease and end_body release, with O2: what the thread did before happens before
//                 the task ends.
//             O2  the operation that reaches zero acquires, with O1 of all others: each continues
//                 the release sequences of those before it.
//             increase publishes nothing: a thread that decreases has learnt of the task by other
//             means.
// Progress    increase and end_body are wait-free, decrease is lock-free.
// Reclamation The word lives in the task. A thread that decreases holds a reference, or an event,
//             which keeps the task alive.
// Checked by  tests/model/suspension_models.cpp: events_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

enum class decreased { some_left, last, underflow };

template <class P = real_atomics>
class event_word {
 public:
  void increase(std::uint32_t n) noexcept {
    const std::int64_t hold = m_used.get() ? 0 : k_body;
    m_used.set(true);
    m_word.fetch_add(hold + n, std::memory_order_relaxed);
  }

  /// Returns whether an event is left. Only the running task calls it. False is exact, and the task
  /// sees what the other threads did before their decreases.
  [[nodiscard]] bool any() const noexcept {
    return (m_word.load(std::memory_order_acquire) & (k_body - 1)) != 0;
  } // O2

  /// Prepares the word for another run of the body. Called by the thread that has brought it to
  /// zero.
  void begin_again() noexcept { m_used.set(false); }

  /// Returns whether the task has ever had an event. Only the running task calls it.
  [[nodiscard]] bool used() const noexcept { return m_used.get(); }

  /// Ends the body. True: no event is left, and the caller ends the task.
  [[nodiscard]] bool end_body() noexcept {
    return !m_used.get() ||
           unless(bug::events_end_early,
                  m_word.fetch_sub(k_body, std::memory_order_acq_rel) == k_body, true); // O1, O2
  }

  /// Takes `n` events away. `last`: the caller ends the task.
  [[nodiscard]] decreased decrease(std::uint32_t n) noexcept {
    std::int64_t now = m_word.load(std::memory_order_relaxed);
    do {
      if ((now & (k_body - 1)) < static_cast<std::int64_t>(n))
        return decreased::underflow;
    } while (!m_word.compare_exchange_weak(now, now - n, std::memory_order_acq_rel,
                                           std::memory_order_relaxed)); // O1, O2
    return unless(bug::events_last_missed, now == static_cast<std::int64_t>(n))
               ? decreased::last
               : decreased::some_left;
  }

 private:
  static constexpr std::int64_t k_body = std::int64_t{1} << 40;

  typename P::template atomic<std::int64_t> m_word{0};
  typename P::template var<bool> m_used{}; // of the running task
};

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// External events: reasons outside of Weft for a task not to be over.
//
// Roles       The running task: increase. Any thread: decrease. The worker that ends the body: end_body, once.
// Word        Events, plus k_body from the first increase until the body has ended.
// Invariants  I1  The word reaches zero once: when the body has ended and no event is left. Whoever brings it there ends the task, or
//                 lets it begin again (once per run of the body, then).
//             I2  A decrease that would take more than there is changes nothing.
// Orders      O1  decrease and end_body release, with O2: what was done before is done before the task ends.
//             O2  the operation that reaches zero acquires, with O1 of all others: each continues the release sequences of those
//                 before it.
//             increase publishes nothing: who decreases has learnt of the task by other means.
// Progress    increase and end_body wait-free, decrease lock-free.
// Reclamation The word lives in the task: who decreases holds a reference, or an event, which keeps the task alive.
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

  /// The running task: whether an event is left. "None" is exact, and what was done before the decrease is seen.
  [[nodiscard]] bool any() const noexcept { return (m_word.load(std::memory_order_acquire) & (k_body - 1)) != 0; } // O2

  /// Who has brought the word to zero, when the body is to run again.
  void begin_again() noexcept { m_used.set(false); }

  /// By the running task: whether it has ever had an event.
  [[nodiscard]] bool used() const noexcept { return m_used.get(); }

  /// True: no event is left, the caller ends the task.
  [[nodiscard]] bool end_body() noexcept {
    return !m_used.get() || m_word.fetch_sub(k_body, std::memory_order_acq_rel) == k_body || // O1, O2
           mutant(bug::events_end_early);
  }

  /// `last`: the caller ends the task.
  [[nodiscard]] decreased decrease(std::uint32_t n) noexcept {
    std::int64_t now = m_word.load(std::memory_order_relaxed);
    do {
      if ((now & (k_body - 1)) < static_cast<std::int64_t>(n))
        return decreased::underflow;
    } while (!m_word.compare_exchange_weak(now, now - n, std::memory_order_acq_rel, std::memory_order_relaxed)); // O1, O2
    return now == static_cast<std::int64_t>(n) && !mutant(bug::events_last_missed) ? decreased::last : decreased::some_left;
  }

 private:
  static constexpr std::int64_t k_body = std::int64_t{1} << 40;

  typename P::template atomic<std::int64_t> m_word{0};
  typename P::template var<bool> m_used{}; // of the running task
};

} // namespace rt
} // namespace weft::inline v0

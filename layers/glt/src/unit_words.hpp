// SPDX-License-Identifier: Apache-2.0
// The words of a unit by which its creator, the unit itself, joiners and the finalizer agree on which
// of them gives it back.
//
// Roles       Creator: open, publish. Claimer: the one caller that may give the unit back: a joiner, a
//             freer, the finalizer, or, without a handle, the unit itself: claim, then close.
// Word        m_task: null from close until the task of the next use is made. m_unclaimed: the number
//             of the use that has no claimer yet; 0: there is a claimer, or the unit is a thread's.
// Invariants  I1  A use has one claimer, which gives the unit back once.
//             I2  The finalizer meets units of which it has no handle. It reads the words alone
//                 until it is the claimer of the use that it has met; from then on the unit is not
//                 reused.
//             I3  Once a use is open, m_task is null or the task of this use.
// Orders      O1  m_task store release, load acquire: a reader of the task sees the task, and the unit as
//                 its creator has made it.
//             O2  All else is relaxed: no two uses have one number, and the table of units orders
//                 them. A reader that has found a use there does not see the task of an earlier one
//                 (I3), and the next creator sees what the claimer has done.
// Checked by  tests/model/layers/glt_models.cpp: glt_units_*; layers/glt/tests/core_test.c,
//             many_test.c
#pragma once

#include "mutant.hpp"

#include <atomic>
#include <cstdint>

namespace weft_glt {

template <class Task, class P>
class unit_words {
 public:
  /// Opens a use of this number; 0: no caller may claim it.
  void open(std::uint64_t number) noexcept {
    m_unclaimed.store(number, std::memory_order_relaxed); // O2
  }
  /// Makes the task known.
  void publish(Task &made) noexcept {
    m_task.store(&made, std::memory_order_release); // O1
  }
  /// Returns the task; null: it is not made yet.
  [[nodiscard]] Task *task() const noexcept {
    return m_task.load(std::memory_order_acquire); // O1
  }
  /// Returns the task, in the task itself.
  [[nodiscard]] Task *own_task() const noexcept { return m_task.load(std::memory_order_relaxed); }

  /// Makes the caller the claimer in the use of this number. Returns false if there is one, or if the
  /// use is over.
  [[nodiscard]] bool claim(std::uint64_t number) noexcept {
    std::uint64_t expected = unless(bug::glt_claims_another_use, number,
                                    [this] { return m_unclaimed.load(std::memory_order_relaxed); });
    return m_unclaimed.compare_exchange_strong(
        expected, unless(bug::glt_claimed_twice, std::uint64_t{0}, number),
        std::memory_order_relaxed, std::memory_order_relaxed); // O2
  }
  /// Forgets the task. The claimer calls this, before the unit may be reused.
  void close() noexcept {
    unless(bug::glt_task_kept, [this] { m_task.store(nullptr, std::memory_order_relaxed); }); // O2
  }

 private:
  typename P::template atomic<Task *> m_task{nullptr};
  typename P::template atomic<std::uint64_t> m_unclaimed{0};
};

} // namespace weft_glt

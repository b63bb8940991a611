// SPDX-License-Identifier: Apache-2.0
// Tasks that may run and that nobody has begun, of one member of a team: it takes the newest, others take the oldest.
//
// Roles       Owner: push, pop. Others: take, take_some; push, of what they give back. Anybody: size, any.
// Word        Twice the number of tasks, and 1 while somebody changes the list.
// Invariants  I1  The list is changed by who has set the lowest bit.
//             I2  Who pushes has raised the number before it looks for sleepers; who goes to sleep has said so before it reads the number.
// Orders      O1  compare_exchange seq_cst: takes the list (with O2); and I2.
//             O2  store release: gives it back.
//             O3  load seq_cst, of who goes to sleep: I2.
// Progress    Blocking: a holder runs a dozen instructions, and is in this library, where no thread is interrupted (preempt.cpp).
// Checked by  tests/model/omp_task_models.cpp: omp_stack_*, omp_wait_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft_omp {

/// Linked by `newer` and `older`.
template <class Task, class P = real_atomics>
class basic_task_stack {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(m_word.load(std::memory_order_relaxed) / 2); }
  [[nodiscard]] bool any() const noexcept { return m_word.load(std::memory_order_seq_cst) > 1; } // O3

  /// `with` is called while nobody can take the task.
  template <class F>
  void push(Task &x, F with) noexcept {
    const std::uint64_t n = lock(1);
    append(x);
    with();
    unlock(n);
  }

  /// The newest, if it suits.
  template <class F>
  Task *pop(F suits) noexcept {
    if (size() == 0)
      return nullptr;
    const std::uint64_t n = lock(0);
    Task *x = m_newest;
    if (x && !suits(*x))
      x = nullptr;
    if (x)
      remove(*x);
    unlock(x ? n - 1 : n);
    return x;
  }

  /// The oldest one that suits.
  template <class F>
  Task *take(F suits) noexcept {
    if (!any())
      return nullptr;
    const std::uint64_t n = lock(0);
    Task *x = m_oldest;
    while (x && !suits(*x))
      x = x->newer;
    if (x)
      remove(*x);
    unlock(x ? n - 1 : n);
    return x;
  }

  /// The oldest half, `most` at most; all but the first of them go to `rest`, the thief's.
  Task *take_some(std::uint64_t most, basic_task_stack &rest) noexcept {
    if (!any())
      return nullptr;
    const std::uint64_t n = lock(0), count = std::min((n + 1) / 2, most);
    Task *const first = m_oldest;
    Task *last = first;
    for (std::uint64_t i = 1; i < count; ++i)
      last = last->newer;
    if (count != 0) {
      m_oldest = last->newer;
      (m_oldest ? m_oldest->older : m_newest) = nullptr;
      last->newer = nullptr;
    }
    unlock(n - count);
    if (count > 1)
      rest.append_all(*first->newer, *last, count - 1);
    return first;
  }

 private:
  /// The number of tasks that there are, `more` included.
  std::uint64_t lock(std::uint64_t more) noexcept {
    std::uint64_t seen = m_word.load(std::memory_order_relaxed) & ~std::uint64_t{1};
    for (int looks = 0; !m_word.compare_exchange_weak(seen, raised(seen, more) | 1, std::memory_order_seq_cst, std::memory_order_relaxed); // O1
         seen &= ~std::uint64_t{1}) {
      if (++looks % 64 == 0)
        P::yield(); // the holder may have lost its cpu
      else
        P::pause();
    }
    return seen / 2 + more;
  }
  static std::uint64_t raised(std::uint64_t seen, std::uint64_t more) noexcept {
    return mutant(bug::omp_stack_raises_late) ? seen : seen + 2 * more; // I2
  }
  void unlock(std::uint64_t count) noexcept {
    m_word.store(2 * count, order_unless(bug::omp_stack_unlock_relaxed, std::memory_order_release)); // O2
  }

  void append(Task &x) noexcept {
    x.newer = nullptr;
    x.older = m_newest;
    (m_newest ? m_newest->newer : m_oldest) = &x;
    m_newest = &x;
  }
  void append_all(Task &first, Task &last, std::uint64_t count) noexcept {
    const std::uint64_t n = lock(count);
    first.older = m_newest;
    (m_newest ? m_newest->newer : m_oldest) = &first;
    m_newest = &last;
    unlock(n);
  }
  void remove(Task &x) noexcept {
    (x.newer ? x.newer->older : m_newest) = x.older;
    (x.older ? x.older->newer : m_oldest) = x.newer;
  }

  typename P::template atomic<std::uint64_t> m_word{0};
  typename P::template plain<Task *> m_oldest{}, m_newest{}; // I1
};

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// The ready tasks of one member of a team: the owner takes the newest, thieves take the oldest.
// No thread has begun them, but for the next parts of untied tasks, which are pushed as the oldest.
//
// Roles       Owner: push, push_oldest, pop. Thief: take, take_some; push, of a task that it gives back. Any
//             thread: size, any. Holder: the thread that has set the lowest bit of the word.
//             Producer: a thread that pushes. Waiter: a thread that is about to sleep until a task
//             is ready.
// Word        Twice the number of tasks, plus 1 while a holder changes the list.
// Invariants  I1  Only the holder changes the list.
//             I2  A producer raises the number before it looks for sleepers. A waiter publishes
//                 that it sleeps before it reads the number. So one of the two sees the other.
// Orders      O1  compare_exchange seq_cst: the holder locks the list (with O2); and I2.
//             O2  store release: the holder unlocks the list.
//             O3  load seq_cst, by a waiter: I2.
// Progress    Blocking: a holder runs a dozen instructions, and is in this library, where no thread
//             is interrupted (preempt.cpp).
// Checked by  tests/model/layers/omp_task_models.cpp: omp_stack_*, omp_wait_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft_omp {

/// Holds tasks, linked by `newer` and `older`.
template <class Task, class P = real_atomics>
class basic_task_stack {
 public:
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(m_word.load(std::memory_order_relaxed) / 2);
  }
  [[nodiscard]] bool any() const noexcept {
    return m_word.load(std::memory_order_seq_cst) > 1;
  } // O3

  /// Pushes a task, and calls `with` while no thread can take the task yet.
  template <class F>
  void push(Task &task, F with) noexcept {
    const std::uint64_t n = lock(1);
    append(task);
    with();
    unlock(n);
  }
  /// Does the same as push(), but makes the task the oldest.
  template <class F>
  void push_oldest(Task &task, F with) noexcept {
    const std::uint64_t n = lock(1);
    prepend(task);
    with();
    unlock(n);
  }

  /// Takes the newest task, if it suits.
  template <class F>
  Task *pop(F suits) noexcept {
    if (size() == 0)
      return nullptr;
    const std::uint64_t n = lock(0);
    Task *task = m_newest;
    if (task && !suits(*task))
      task = nullptr;
    if (task)
      remove(*task);
    unlock(task ? n - 1 : n);
    return task;
  }

  /// Takes the oldest task that suits.
  template <class F>
  Task *take(F suits) noexcept {
    if (!any())
      return nullptr;
    const std::uint64_t n = lock(0);
    Task *task = m_oldest;
    while (task && !suits(*task))
      task = task->newer;
    if (task)
      remove(*task);
    unlock(task ? n - 1 : n);
    return task;
  }

  /// Takes the oldest half of the tasks, `most` at most. Returns the first; the others go to
  /// `rest`, the thief's stack.
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
  /// Locks the list. Returns the number of tasks in it, `more` included.
  std::uint64_t lock(std::uint64_t more) noexcept {
    std::uint64_t seen = m_word.load(std::memory_order_relaxed) & ~std::uint64_t{1};
    for (int looks = 0;
         !m_word.compare_exchange_weak(seen, raised(seen, more) | 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed); // O1
         seen &= ~std::uint64_t{1}) {
      if (++looks % 64 == 0)
        P::yield(); // the holder may have lost its cpu
      else
        P::pause();
    }
    return seen / 2 + more;
  }
  static std::uint64_t raised(std::uint64_t seen, std::uint64_t more) noexcept {
    return seen + unless(bug::omp_stack_raises_late, 2 * more); // I2
  }
  void unlock(std::uint64_t count) noexcept {
    m_word.store(2 * count,
                 order_unless(bug::omp_stack_unlock_relaxed, std::memory_order_release)); // O2
  }

  void append(Task &task) noexcept {
    task.newer = nullptr;
    task.older = m_newest;
    (m_newest ? m_newest->newer : m_oldest) = &task;
    m_newest = &task;
  }
  void prepend(Task &task) noexcept {
    task.older = nullptr;
    task.newer = m_oldest;
    (m_oldest ? m_oldest->older : m_newest) = &task;
    m_oldest = &task;
  }
  void append_all(Task &first, Task &last, std::uint64_t count) noexcept {
    const std::uint64_t n = lock(count);
    first.older = m_newest;
    (m_newest ? m_newest->newer : m_oldest) = &first;
    m_newest = &last;
    unlock(n);
  }
  void remove(Task &task) noexcept {
    (task.newer ? task.newer->older : m_newest) = task.older;
    (task.older ? task.older->newer : m_oldest) = task.newer;
  }

  typename P::template atomic<std::uint64_t> m_word{0};
  typename P::template plain<Task *> m_oldest{}, m_newest{}; // I1
};

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// Tasks that may run and that nobody has begun, of one member of a team: it takes the newest, others take the oldest.
//
// Roles       Owner: push, pop. Others: take, take_some. Anybody: size, any.
// Word        Twice the number of tasks, and 1 while somebody changes the list.
// Invariants  I1  The list is changed by who has set the lowest bit.
//             I2  Who pushes has raised the number before it looks for sleepers; who goes to sleep has said so before it reads the number.
// Orders      O1  compare_exchange seq_cst: takes the list (with O2); and I2.
//             O2  store release: gives it back.
//             O3  load seq_cst, of who goes to sleep: I2.
// Progress    Blocking: a holder runs a dozen instructions, and is in this library, where no thread is interrupted (preempt.cpp).
#pragma once

#include "spin.hpp"
#include "task.hpp"

#include <algorithm>
#include <cstdint>

namespace weft_omp {

class task_stack {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(m_word.load(std::memory_order_relaxed) / 2); }
  [[nodiscard]] bool any() const noexcept { return m_word.load(std::memory_order_seq_cst) > 1; } // O3

  /// `with` is called while nobody can take the task.
  template <class F>
  void push(omp_task &x, F with) noexcept {
    const std::uint64_t n = lock(1);
    append(x);
    with();
    unlock(n);
  }

  /// The newest, if it suits.
  template <class F>
  omp_task *pop(F suits) noexcept {
    if (size() == 0)
      return nullptr;
    const std::uint64_t n = lock(0);
    omp_task *const x = m_newest && suits(*m_newest) ? m_newest : nullptr;
    if (x)
      remove(*x);
    unlock(x ? n - 1 : n);
    return x;
  }

  /// The oldest one that suits.
  template <class F>
  omp_task *take(F suits) noexcept {
    if (!any())
      return nullptr;
    const std::uint64_t n = lock(0);
    omp_task *x = m_oldest;
    while (x && !suits(*x))
      x = x->newer;
    if (x)
      remove(*x);
    unlock(x ? n - 1 : n);
    return x;
  }

  /// The oldest half, `most` at most; all but the first of them go to `rest`, the thief's.
  omp_task *take_some(std::uint64_t most, task_stack &rest) noexcept {
    if (!any())
      return nullptr;
    const std::uint64_t n = lock(0), count = std::min((n + 1) / 2, most);
    omp_task *const first = m_oldest;
    omp_task *last = first;
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
    for (int looks = 0; !m_word.compare_exchange_weak(seen, (seen + 2 * more) | 1, std::memory_order_seq_cst, std::memory_order_relaxed); // O1
         seen &= ~std::uint64_t{1}) {
      if (++looks % 64 == 0)
        yield_kernel_thread(); // the holder may have lost its cpu
      else
        cpu_pause();
    }
    return seen / 2 + more;
  }
  void unlock(std::uint64_t count) noexcept { m_word.store(2 * count, std::memory_order_release); } // O2

  void append(omp_task &x) noexcept {
    x.newer = nullptr;
    x.older = m_newest;
    (m_newest ? m_newest->newer : m_oldest) = &x;
    m_newest = &x;
  }
  void append_all(omp_task &first, omp_task &last, std::uint64_t count) noexcept {
    const std::uint64_t n = lock(count);
    first.older = m_newest;
    (m_newest ? m_newest->newer : m_oldest) = &first;
    m_newest = &last;
    unlock(n);
  }
  void remove(omp_task &x) noexcept {
    (x.newer ? x.newer->older : m_newest) = x.older;
    (x.older ? x.older->newer : m_oldest) = x.newer;
  }

  std::atomic<std::uint64_t> m_word{0};
  omp_task *m_oldest = nullptr, *m_newest = nullptr; // I1
};

} // namespace weft_omp

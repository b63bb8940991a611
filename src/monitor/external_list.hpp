// SPDX-License-Identifier: Apache-2.0
// The threads of the program that layers have registered: external threads.
//
// Roles       A thread, any: adds its record. The watcher visits.
// Word        m_first. external_thread::next: the adding thread's until the record is in the list,
//             then constant.
// Invariants  I1  All later visits find a record that was added. The record of a thread that has
//                 ended stays in the list; another thread may begin with it.
// Orders      O1  m_first compare_exchange release; load acquire: the external thread is complete.
// Progress    Lock-free.
// Reclamation None: records outlive the watcher's last visit.
// Checked by  tests/model/external_thread_models.cpp
#pragma once

#include <atomic>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Thread, class P = real_atomics>
class external_list {
 public:
  void add(Thread &thread) noexcept {
    Thread *first = m_first.load(std::memory_order_relaxed);
    do
      thread.next = first;
    while (!m_first.compare_exchange_weak(
        first, &thread, order_unless(bug::external_added_relaxed, std::memory_order_release),
        std::memory_order_relaxed)); // O1
  }

  template <class F>
  void visit(F f) {
    for (Thread *g = m_first.load(std::memory_order_acquire); g; g = g->next) // O1
      f(*g);
  }

 private:
  typename P::template atomic<Thread *> m_first{nullptr};
};

} // namespace rt
} // namespace weft::inline v0

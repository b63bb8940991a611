// SPDX-License-Identifier: Apache-2.0
// Keeps whoever is not at work from going to work for as long as somebody looks at what has been left.
//
// Roles       The watcher closes and opens. A worker passes on its way out of its sleep, a thread of the user when it becomes a
//             worker. A thread that is none enters, does something to tasks, and leaves.
// Word        m_closed: also what those who must wait sleep on. m_readers: how many threads that are no workers are in.
// Invariants  I1  Who after close() is still announced in the eventcount, or not in the table of workers, does not leave pass()
//                 before open().
//             I2  Was readers() 0 after close(), then nobody returns from enter() before open().
// Orders      O1  m_closed store, then P::heavy_barrier; with the others' change (end of the announcement, entry into the table,
//                 m_readers), then P::light_barrier and the load of m_closed: either the watcher sees that they are about, or
//                 they see the gate closed.
//             O2  open, release, with the load of who waits, acquire: nothing is looked at any more.
//             O3  leave, release, with readers(), acquire: what they did is seen.
// Progress    Blocking.
// Checked by  tests/model/gate_models.cpp
#pragma once

#include <cstdint>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class sleep_gate {
 public:
  void close() noexcept {
    m_closed.store(1, std::memory_order_relaxed);
    if (!mutant(bug::gate_no_heavy_barrier))
      P::heavy_barrier(); // O1
  }
  void open() noexcept {
    m_closed.store(0, std::memory_order_release); // O2
    if (!mutant(bug::gate_opens_silently))
      P::futex_wake(m_closed, INT32_MAX);
  }
  void pass() noexcept {
    P::light_barrier();                             // O1
    while (m_closed.load(std::memory_order_acquire)) // O2
      P::futex_wait(m_closed, 1);
  }

  void enter() noexcept {
    for (;;) {
      m_readers.fetch_add(1, std::memory_order_relaxed);
      P::light_barrier();                           // O1
      if (!m_closed.load(std::memory_order_acquire)) // O2
        return;
      leave();
      pass();
      if (mutant(bug::gate_reader_uncounted))
        return;
    }
  }
  void leave() noexcept { m_readers.fetch_sub(1, std::memory_order_release); } // O3
  /// By who has closed the gate.
  [[nodiscard]] std::uint32_t readers() const noexcept { return m_readers.load(std::memory_order_acquire); } // O3

 private:
  typename P::template atomic<std::uint32_t> m_closed{0};
  typename P::template atomic<std::uint32_t> m_readers{0};
};

} // namespace rt
} // namespace weft::inline v0

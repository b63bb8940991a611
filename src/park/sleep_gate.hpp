// SPDX-License-Identifier: Apache-2.0
// Keeps threads that are not at work from going to work while the watcher reads the tasks that they
// have left.
//
// Roles       The watcher closes and opens the gate. A worker passes on its way out of its sleep,
//             and a thread of the user when it becomes a worker. A reader, here a thread that is no
//             worker, enters, does something to tasks, and leaves.
// Word        m_closed: also the word on which waiting threads sleep. m_readers: the number of
//             readers that are in.
// Invariants  I1  A worker that is still announced in the eventcount after close(), or a thread
//                 that is not in the table of workers then, does not leave pass() before open().
//             I2  If readers() was 0 after close(), no thread returns from enter() before open().
// Orders      O1  The watcher: m_closed store, then P::heavy_barrier. The others: their change (end
//                 of the announcement, entry into the table, m_readers), then P::light_barrier and
//                 the load of m_closed. Either the watcher sees their change, or they see the gate
//                 closed.
//             O2  open, release, with the waiters' load, acquire: the watcher has read everything
//                 by then.
//             O3  leave, release, with readers(), acquire: the watcher sees what the readers did.
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
    unless(bug::gate_no_heavy_barrier, [&] { P::heavy_barrier(); }); // O1
  }
  void open() noexcept {
    m_closed.store(0, std::memory_order_release); // O2
    unless(bug::gate_opens_silently, [&] { P::futex_wake(m_closed, INT32_MAX); });
  }
  void pass() noexcept {
    P::light_barrier(); // O1
    while (m_closed.load(std::memory_order_acquire)) // O2
      P::futex_wait(m_closed, 1);
  }

  void enter() noexcept {
    do {
      m_readers.fetch_add(1, std::memory_order_relaxed);
      P::light_barrier(); // O1
      if (!m_closed.load(std::memory_order_acquire)) // O2
        return;
      leave();
      pass();
    } while (unless(bug::gate_reader_uncounted, true));
  }
  void leave() noexcept { m_readers.fetch_sub(1, std::memory_order_release); } // O3
  /// Returns the number of readers that are in. Called by the watcher after close().
  [[nodiscard]] std::uint32_t readers() const noexcept {
    return m_readers.load(std::memory_order_acquire);
  } // O3

 private:
  typename P::template atomic<std::uint32_t> m_closed{0};
  typename P::template atomic<std::uint32_t> m_readers{0};
};

} // namespace rt
} // namespace weft::inline v0

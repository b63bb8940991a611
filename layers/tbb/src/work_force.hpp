// SPDX-License-Identifier: Apache-2.0
// How many threads of a server work, sleep and live, and which thread ends the connection.
//
// Roles       TBB: any thread that says how its need changes: adjust, then wake_one until it returns null.
//             A thread of the server: after_work, sleeps until it is awake, at the end leave. The
//             closer: close, then has_parked on another stack.
// Words       All are under the server's lock, but for awake of a thread: true when the thread may go
//             on.
// Invariants  I1  Fewer threads than are wanted work only while all live ones do, or a thread that
//                 has the lock, or takes it next, wakes one: TBB's caller, or one that was woken.
//             I2  A thread sleeps only while it is in the list of idle ones; after close none is.
//             I3  One thread ends the connection, behind all threads: the last one to leave, unless a
//                 closer is awaited; then the closer, which the last one wakes if it has parked.
//             I4  A thread leaves with the lock, and so lives until its waker, which has the lock,
//                 is done with it.
// Orders      O1  awake: relaxed. A thread that was woken takes the lock before it calls TBB.
// Progress    That of the lock.
// Checked by  tests/model/layers/tbb_models.cpp: tbb_threads_*; layers/tbb/tests/clients.cpp
#pragma once

#include "mutant.hpp"

#include <algorithm>
#include <atomic>

namespace weft_tbb {

/// What the class needs of a policy for lock-free components (weft_common/atomics.hpp).
struct real_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  struct var {
    T value{};
    T get() const noexcept { return value; }
    void set(T to) noexcept { value = to; }
  };
};

/// `Worker` has awake, an atomic, and next_idle. `Closer` is a thread that waits for the last one.
template <class Worker, class Closer, class P = real_atomics>
class work_force {
 public:
  void adjust(int delta) noexcept { m_demand.set(m_demand.get() + delta); }

  /// Returns whether TBB wants more threads than work.
  [[nodiscard]] bool wants_more() const noexcept {
    return !m_closing.get() && m_working.get() < wanted();
  }
  /// Takes a sleeping thread to work, which the caller unparks before it gives the lock back; null:
  /// none sleeps.
  [[nodiscard]] Worker *wake_one() noexcept {
    Worker *const w = take_idle();
    if (w)
      m_working.set(m_working.get() + 1);
    return w;
  }
  /// Counts a new thread, which begins with work.
  void start() noexcept {
    m_live.set(m_live.get() + 1);
    m_working.set(m_working.get() + 1);
  }
  [[nodiscard]] unsigned live() const noexcept { return m_live.get(); }
  [[nodiscard]] unsigned working() const noexcept { return m_working.get(); }

  enum class next { again, sleep, leave };
  /// Says what a thread does that has no work for now.
  [[nodiscard]] next after_work(Worker &me) noexcept {
    if (m_closing.get())
      return next::leave;
    if (m_working.get() <= unless(bug::tbb_sleeps_on_demand, wanted(), 0u))
      return next::again;
    m_working.set(m_working.get() - 1);
    me.awake.store(false, std::memory_order_relaxed); // O1
    me.next_idle.set(m_idle.get());
    m_idle.set(&me);
    return next::sleep;
  }
  [[nodiscard]] static bool is_awake(const Worker &me) noexcept {
    return me.awake.load(std::memory_order_relaxed); // O1
  }

  struct end {
    Closer *closer = nullptr; // to be woken
    bool is_callers = false; // the caller ends the connection
  };
  /// Counts a thread that leaves.
  [[nodiscard]] end leave() noexcept {
    m_live.set(m_live.get() - 1);
    if (m_live.get() != 0)
      return {};
    return {m_closer.get(), !m_is_awaited.get()};
  }

  /// Lets no thread work any more. Calls unpark(thread) for those that sleep.
  template <class Unpark>
  void close(Unpark unpark) noexcept {
    m_closing.set(true);
    while (Worker *const w = unless(bug::tbb_closes_past_sleepers, [this] { return take_idle(); }))
      unpark(*w);
  }
  /// The closer waits for the last thread, or does not after all.
  void await_end(bool waits) noexcept {
    m_is_awaited.set(unless(bug::tbb_ended_by_two, waits));
  }
  /// Says that the closer has parked. Returns whether all threads have left before: then the closer
  /// goes on.
  [[nodiscard]] bool has_parked(Closer &waiting) noexcept {
    m_closer.set(&waiting);
    return unless(bug::tbb_closer_left_asleep, m_live.get() == 0);
  }

  /// The child of a fork() has none of the threads.
  void forget() noexcept {
    m_idle.set(nullptr);
    m_working.set(0);
    m_live.set(0);
    m_closer.set(nullptr);
    m_is_awaited.set(false);
  }

 private:
  template <class T>
  using var = typename P::template var<T>;

  [[nodiscard]] unsigned wanted() const noexcept {
    return static_cast<unsigned>(std::max(m_demand.get(), 0));
  }
  Worker *take_idle() noexcept {
    Worker *const w = m_idle.get();
    if (w) {
      m_idle.set(w->next_idle.get());
      w->awake.store(true, std::memory_order_relaxed); // O1
    }
    return w;
  }

  var<int> m_demand{0}; // what TBB wants; changes that come in another order may make it negative
  var<unsigned> m_working{0u}; // threads that are at work for the client, or on their way
  var<unsigned> m_live{0u}; // threads that have started and not ended
  var<Worker *> m_idle{nullptr};
  var<bool> m_closing{false};
  var<bool> m_is_awaited{false}; // a closer waits, or is about to: the last thread does not finish
  var<Closer *> m_closer{nullptr}; // waits for the last thread
};

} // namespace weft_tbb

// SPDX-License-Identifier: Apache-2.0
// How the thread that calls policies sleeps and is woken, and how a policy is withdrawn while it may
// be called.
//
// Roles       The caller: the thread that calls policies. A notifier: any thread that says that there
//             is something to look at. A withdrawer: a thread that ends a policy.
// Words       policy_bell: m_rung, on which the caller sleeps; m_stops; m_runs, 1 while it runs. policy_event_word: listeners, how many
//             policies wait for the event; fired, how often it has happened. called_policy: what is
//             called, guarded by the lock of all policies; m_ended, on which withdrawers sleep.
// Invariants  I1  The caller does not sleep over what a notifier has said: it listens before it looks
//                 at anything, and sleeps only while the bell has not rung since.
//             I2  wait_until_over() returns true after the last call has returned, and false if that
//                 call was given up.
// Orders      O1  fired, release, with the caller's acquire: a policy sees what was done before the
//                 event.
//             O2  m_rung, release, with the acquire of listen(): the caller that hears the bell sees
//                 what it rang for.
//             O3  the lock orders a call's end before the withdrawal; m_ended only ends a sleep.
// Progress    fire() and ring() wait-free, except for the system call. A withdrawal waits for a call
//             that is under way, until it ends or is given up.
// Reclamation None: words of the process, but for an event's, which outlives its policies.
// Checked by  tests/model/policy_models.cpp; tests/unit/tune/policies_test.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>
#include <limits>

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class policy_bell {
 public:
  // ---- by the caller

  /// Returns what wait() takes. What is looked at after it is not missed.
  [[nodiscard]] std::uint32_t listen() const noexcept {
    return m_rung.load(std::memory_order_acquire); // O2
  }
  /// Says whether the caller is to end. Comes after listen(), which orders it.
  [[nodiscard]] bool stops() const noexcept { return m_stops.load(std::memory_order_relaxed); }
  /// Is the last that the caller does.
  void end() noexcept {
    m_runs.store(0, std::memory_order_relaxed); // a join orders what it has done
    unless(bug::policy_end_wakes_nobody, [&] { P::futex_wake(m_runs, 1); });
  }
  /// Sleeps until the bell rings, at most until `until_ns` of the monotonic clock; 0: for ever.
  void wait(std::uint32_t heard, std::uint64_t until_ns) noexcept {
    P::futex_wait(m_rung, heard, static_cast<std::int64_t>(until_ns));
  }

  // ---- by others

  void ring() noexcept {
    m_rung.fetch_add(1, std::memory_order_release); // O2
    unless(bug::policy_bell_wakes_nobody, [&] { P::futex_wake(m_rung, 1); });
  }
  /// Has the caller end.
  void stop() noexcept {
    m_stops.store(true, std::memory_order_relaxed); // ring() orders it
    ring();
  }
  /// Before a caller begins.
  void begin() noexcept {
    m_stops.store(false, std::memory_order_relaxed);
    m_runs.store(1, std::memory_order_relaxed);
  }
  /// Waits until the caller has ended, at most until `until_ns`. Returns whether it has.
  [[nodiscard]] bool wait_for_end(std::uint64_t until_ns) noexcept {
    while (m_runs.load(std::memory_order_relaxed) != 0)
      if (!P::futex_wait(m_runs, 1, static_cast<std::int64_t>(until_ns)))
        return m_runs.load(std::memory_order_relaxed) == 0;
    return true;
  }

 private:
  typename P::template atomic<std::uint32_t> m_rung{0};
  typename P::template atomic<bool> m_stops{false};
  typename P::template atomic<std::uint32_t> m_runs{0};
};

/// Is something that happens in the program.
template <class P = real_atomics>
struct policy_event_word {
  typename P::template atomic<std::uint32_t> listeners{0};
  typename P::template atomic<std::uint64_t> fired{0};

  /// Says that it has happened. Costs one load where no policy listens.
  void fire(policy_bell<P> &bell) noexcept {
    if (listeners.load(std::memory_order_relaxed) == 0)
      return;
    unless(bug::policy_rings_before_it_happens, [] {}, [&] { bell.ring(); });
    fired.fetch_add(1, order_unless(bug::policy_event_relaxed, std::memory_order_release)); // O1
    unless(bug::policy_rings_before_it_happens, [&] { bell.ring(); });
  }
  /// Says whether it has happened since `seen`, which becomes what is seen now.
  [[nodiscard]] bool has_happened(std::uint64_t &seen) const noexcept {
    const std::uint64_t now = fired.load(std::memory_order_acquire); // O1
    const bool is_new = now != seen;
    seen = now;
    return is_new;
  }
};

/// Holds which policy is called. The thread that holds the lock calls these functions.
template <class Policy, class P = real_atomics>
class called_policy {
 public:
  void begin(Policy &of) noexcept { m_called = &of; }
  /// Ends the call. Returns whether the policy is still there: it may have withdrawn itself.
  bool end() noexcept {
    const bool is_there = m_called != nullptr;
    m_called = nullptr;
    m_is_given_up = false;
    m_ended.fetch_add(1, std::memory_order_relaxed); // O3
    unless(bug::policy_call_ends_silently,
           [&] { P::futex_wake(m_ended, std::numeric_limits<int>::max()); });
    return is_there;
  }
  [[nodiscard]] Policy *called() const noexcept { return m_called; }
  /// Withdraws the policy that is called, in its own call.
  void withdraw_itself() noexcept { m_called = nullptr; }
  /// Gives the call that is under way up: a withdrawer of its policy does not wait for it any more.
  void give_up() noexcept {
    m_is_given_up = m_called != nullptr;
    m_ended.fetch_add(1, std::memory_order_relaxed); // O3
    P::futex_wake(m_ended, std::numeric_limits<int>::max());
  }
  /// Waits while `of` is called. `hold`, which holds the lock, is released meanwhile. Returns false if
  /// the call was given up, and may still go on.
  template <class Hold>
  [[nodiscard]] bool wait_until_over(const Policy &of, Hold &hold) noexcept {
    while (unless(bug::policy_withdrawn_in_its_call, [&] { return m_called == &of; })) {
      if (m_is_given_up)
        return false;
      const std::uint32_t ended = m_ended.load(std::memory_order_relaxed); // O3
      hold.unlock();
      P::futex_wait(m_ended, ended, 0);
      hold.lock();
    }
    return true;
  }
  /// Forgets the call of the parent, in the child of a fork().
  void forget() noexcept {
    m_called = nullptr;
    m_is_given_up = false;
  }

 private:
  Policy *m_called = nullptr;
  bool m_is_given_up = false;
  typename P::template atomic<std::uint32_t> m_ended{0};
};

} // namespace rt
} // namespace weft::inline v0

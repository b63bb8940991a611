// SPDX-License-Identifier: Apache-2.0
// The list of registrations in order of priority. It may change while callers call what is in it.
//
// Roles       A registrant: add once, remove once; a call may be a registrant. remove() sets
//             k_ending, waits until no call runs but its own, and only then unlinks.
//             A caller, for one round: begin_round, then begin_next and end for each call. A caller
//             that is not alone (begin_next) gets concurrent registrations only.
//             An observer: visit.
//             The thread that forks: before_fork and after_fork hold m_lock over the fork. In the
//             child, forget_calls: it is alone, and no call of another thread goes on.
// Word        registration::calls: calls that are running + k_ending once remove() has begun.
//             m_ended: one for the list, counts the calls that ended after the remove() of their
//             registration had begun; the word that every remove() sleeps on.
// Invariants  I1  The list, and the numbers that add() gives out in order, change under m_lock
//                 only. The list is sorted by priority, the highest first, then by number.
//             I2  A call begins under m_lock, of a registration in the list without k_ending. So
//                 the count only falls after remove() has set k_ending. Calls of the remover itself
//                 (those below it on its stack) stay in the count; the remover passes their number.
//             I3  A round keeps its position by priority and number, not by address. So whatever is
//                 added or removed meanwhile, the round calls once each registration that stays and
//                 that the caller may get. It calls none that was added after the round began. So a
//                 round ends.
// Orders      O1  calls decreased, release, with remove's acquire load: what a call did happened
//                 before remove() returns.
//             O2  m_ended increased, release, with remove's acquire load of it, which comes before
//                 the load of calls. If the remover sees the increase, it sees the new count of
//                 calls. If it does not, it waits for a value that m_ended no longer has, and so
//                 returns at once or is woken.
//             All else is ordered by m_lock.
// Progress    Blocking; m_lock is held over a walk of the list and never over a call.
// Reclamation The registrant's: after remove() has returned no thread touches the registration. A
//             call that removes its own registration does not end().
// Checked by  tests/model/dispatcher_models.cpp: registry_*
#pragma once

#include <climits>
#include <cstdint>

#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says how many threads may call a registration at once.
enum class callable_by { one, several };
/// Says which registrations a caller gets: all, because no other caller does, or those that several
/// threads may call.
enum class caller_gets { all, concurrent };

template <class P = real_atomics>
struct registration {
  constexpr explicit registration(int priority, callable_by callers = callable_by::one)
      : priority(priority), concurrent(callers == callable_by::several) {}
  const int priority; // higher ones are called first
  const bool concurrent; // may be called by several threads at once
  typename P::template var<std::uint64_t> number{0};
  typename P::template var<registration *> next{nullptr};
  typename P::template atomic<std::uint32_t> calls{0};
};

template <class P = real_atomics>
class registry {
 public:
  using entry = registration<P>;

  void add(entry &item) noexcept {
    m_lock.lock();
    item.number.set(m_next_number.get());
    m_next_number.set(item.number.get() + 1);
    typename P::template var<entry *> *link = &m_first;
    while (entry *other = link->get()) {
      if (other->priority < item.priority)
        break;
      link = &other->next;
    }
    item.next.set(link->get());
    link->set(&item);
    m_lock.unlock();
  }

  /// Removes `item`. Returns when no calls of `item` run but `own` ones: those below the caller on its
  /// stack.
  void remove(entry &item, std::uint32_t own) noexcept {
    m_lock.lock();
    item.calls.fetch_or(k_ending, std::memory_order_relaxed);
    m_lock.unlock();
    for (;;) {
      const std::uint32_t ended = m_ended.load(std::memory_order_acquire); // O2
      if (item.calls.load(std::memory_order_acquire) == (own | k_ending)) // O1
        break;
      P::futex_wait(m_ended, ended);
    }
    m_lock.lock();
    typename P::template var<entry *> *link = &m_first;
    while (link->get() != &item)
      link = &link->get()->next;
    link->set(item.next.get());
    m_lock.unlock();
  }

  /// Keeps the position of one caller in the list.
  class round {
    friend registry;
    int m_priority = INT_MAX;
    std::uint64_t m_number = 0; // the next one's, at least
    std::uint64_t m_limit = 0;
  };

  [[nodiscard]] round begin_round() noexcept {
    round r;
    m_lock.lock();
    r.m_limit = m_next_number.get();
    m_lock.unlock();
    return r;
  }

  /// Begins the next call of the round and returns its registration; null: the round is over.
  [[nodiscard]] entry *begin_next(round &turn, caller_gets which) noexcept {
    m_lock.lock();
    entry *e = m_first.get();
    while (e && !is_due(*e, turn, which))
      e = e->next.get();
    if (e) {
      turn.m_priority = e->priority;
      turn.m_number = e->number.get() + 1;
      e->calls.fetch_add(1, std::memory_order_relaxed);
    }
    m_lock.unlock();
    return e;
  }

  void end(entry &item) noexcept {
    if ((item.calls.fetch_sub(1, std::memory_order_release) & k_ending) == 0) // O1
      return;
    m_ended.fetch_add(1, std::memory_order_release); // O2
    unless(bug::registry_end_wakes_nobody, [&] { P::futex_wake(m_ended, INT_MAX); });
  }

  /// Calls f(entry) for each entry until f returns true. Holds the lock: f is short and registers
  /// nothing.
  template <class F>
  void visit(F &&f) noexcept {
    m_lock.lock();
    for (entry *e = m_first.get(); e && !f(*e); e = e->next.get()) {
    }
    m_lock.unlock();
  }

  // For fork(): calls of other threads do not go on in the child.
  void before_fork() noexcept { m_lock.lock(); }
  void after_fork() noexcept { m_lock.unlock(); }
  void forget_calls() noexcept {
    for (entry *e = m_first.get(); e; e = e->next.get())
      e->calls.store(e->calls.load(std::memory_order_relaxed) & k_ending,
                     std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t k_ending = 1u << 31;

  static bool is_due(entry &item, const round &turn, caller_gets which) noexcept {
    const bool ahead = item.priority < turn.m_priority ||
                       (item.priority == turn.m_priority && item.number.get() >= turn.m_number);
    return ahead && item.number.get() < turn.m_limit &&
           (which == caller_gets::all || item.concurrent) &&
           unless(bug::registry_calls_the_ended,
                  (item.calls.load(std::memory_order_relaxed) & k_ending) == 0, true);
  }

  spin_lock<P> m_lock;
  typename P::template var<entry *> m_first{nullptr};
  typename P::template var<std::uint64_t> m_next_number{0};
  typename P::template atomic<std::uint32_t> m_ended{0};
};

} // namespace rt
} // namespace weft::inline v0

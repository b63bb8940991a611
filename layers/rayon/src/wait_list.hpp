// SPDX-License-Identifier: Apache-2.0
// Threads that wait for words of memory to change, by the words' addresses, in the order in which
// they came.
//
// Roles       A waiter: a thread, in wait() or wait_for(). A waker: any thread, in wake().
// Word        The word itself is the program's. m_held, m_first, m_last, next: the list of waiters,
//             and its lock. state of a waiter: waits, woken, released. event: what a waiter with a
//             limit waits for instead.
// Invariants  I1  A waiter is in the list from its look at the word until a waker takes it out, or the
//                 waiter itself when its time is over: under the lock, so one of the two does.
//             I2  A waker does not touch a waiter after `released`, and one with a limit after it has
//                 set the event. A waiter that a waker has taken waits for that.
// Orders      The lock orders the waiter's look at the word and the waker's look at the list: if the
//             waiter reads the value from before, the waker, which stored the new one before it took
//             the lock, finds the waiter.
//             O1  state = woken, relaxed: the waiter does no more than look again, for O2.
//             O2  state = released, release; load acquire: what the waker did before is visible, and
//                 the waker is done with the waiter's stack, and with its thread's record.
//             O3  m_held: exchange acquire, store release: the next holder sees the list, and the
//                 word as the last waker has written it.
// Progress    Blocking: the lock is held for a few instructions and a walk over the list.
// Reclamation A waiter is on its thread's stack. An event may be destroyed when it is seen set.
// Source      Own; the lists of the kernel's futex.
// Checked by  tests/model/layers/rayon_models.cpp: rayon_waits_*;
//             layers/rayon/tests/wait_table_test.cpp
#pragma once

#include "mutant.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace weft_rayon {

enum class state : int { waits, woken, released };

/// `Host` says what the threads are: word, value(word), thread, park(thread), unpark(thread), yield(), k_tries, and
/// event, with wait_for(time), set() and is_set(). P: what std::atomic supplies elsewhere.
template <class Host, class P>
class wait_list {
 public:
  using word = typename Host::word;
  struct waiter {
    const word *at;
    typename Host::thread *thread; // null: the wait has a limit
    typename P::template var<waiter *> next{nullptr};
    typename P::template atomic<state> is{state::waits};
    typename Host::event woken_in_time{};
  };

  /// Waits until a waker takes the waiter. Returns false if the word has another value.
  [[nodiscard]] bool wait(waiter &self, std::uint32_t expected) noexcept {
    if (!add(self, expected))
      return false;
    while (self.is.load(std::memory_order_relaxed) == state::waits) // O1
      Host::park(*self.thread);
    while (self.is.load(std::memory_order_acquire) != state::released) // O2
      Host::yield();
    return true;
  }

  /// Adds a waiter, unless the word has another value.
  [[nodiscard]] bool add(waiter &waiting, std::uint32_t expected) noexcept {
    const std::lock_guard here(*this);
    if (unless(bug::rayon_waits_blindly, Host::value(*waiting.at) != expected))
      return false;
    if (waiter *const last = m_last.get())
      last->next.set(&waiting);
    else
      m_first.set(&waiting);
    m_last.set(&waiting);
    return true;
  }

  /// Takes a waiter with a limit out, when its time is over. Returns false if a waker has done so:
  /// then the waker no longer touches the waiter.
  [[nodiscard]] bool withdraw(waiter &self) noexcept {
    if (unless(bug::rayon_leaves_its_entry, [this, &self] { return remove(self); }, true))
      return true;
    while (!self.woken_in_time.is_set()) // a waker is about to set it
      Host::yield();
    return false;
  }

  /// Wakes at most `most` waiters of the word; returns how many. It calls set(event) for those with a
  /// limit.
  template <class Set>
  long wake(const word *at, long most, Set set) noexcept {
    long count = 0;
    for (waiter *w = take(at, most), *next; w; w = next) {
      next = w->next.get();
      ++count;
      if (!w->thread) {
        set(w->woken_in_time);
        continue;
      }
      w->is.store(unless(bug::rayon_released_early, state::woken, state::released),
                  std::memory_order_relaxed); // O1
      Host::unpark(*w->thread);
      w->is.store(state::released, std::memory_order_release); // O2
    }
    return count;
  }

  // The lock never sleeps in the kernel: a wait for it would come back to this list.
  void lock() noexcept {
    while (m_held.exchange(true, std::memory_order_acquire)) // O3
      for (unsigned tries = 1; m_held.load(std::memory_order_relaxed); ++tries)
        if (tries % Host::k_tries == 0)
          Host::yield();
  }
  void unlock() noexcept {
    m_held.store(false, order_unless(bug::rayon_unlock_relaxed, std::memory_order_release)); // O3
  }

 private:
  /// Takes a waiter out that comes behind `before`; null: it is the first. The lock is held.
  void cut(waiter &gone, waiter *before) noexcept {
    (before ? before->next : m_first).set(gone.next.get());
    if (m_last.get() == &gone)
      m_last.set(before);
    gone.next.set(nullptr);
  }

  bool remove(waiter &self) noexcept {
    const std::lock_guard here(*this);
    waiter *before = nullptr;
    for (waiter *w = m_first.get(); w; before = w, w = w->next.get())
      if (w == &self) {
        cut(self, before);
        return true;
      }
    return false;
  }

  /// Takes up to `most` waiters for the word out of the list.
  waiter *take(const word *at, long most) noexcept {
    const std::lock_guard here(*this);
    waiter *taken = nullptr, *last_taken = nullptr, *before = nullptr;
    for (waiter *w = m_first.get(), *next; w && most > 0; w = next) {
      next = w->next.get();
      if (w->at != at) {
        before = w;
        continue;
      }
      cut(*w, before);
      if (last_taken)
        last_taken->next.set(w);
      else
        taken = w;
      last_taken = w;
      --most;
    }
    return taken;
  }

  typename P::template atomic<bool> m_held{false};
  typename P::template var<waiter *> m_first{nullptr}, m_last{nullptr};
};

} // namespace weft_rayon

// SPDX-License-Identifier: Apache-2.0
// The list of the waiters for changes of words. Waiters for several words share a list, and a waker
// searches it for those of its word.
//
// Roles       Waiter: a thread that waits for a change of a word: enter, then it sleeps until
//             `woken`. Waker: a thread that has changed a word: take, take_all.
// Invariants  I1  A waiter reads the word while it holds the lock. A waker changes the word and
//                 then takes the lock. So one of the two sees the other.
//             I2  A sleeper record lies on the stack of its waiter: the store to `woken` is the
//                 waker's last access to it.
//             I3  A waker that wakes all waiters takes them out of the list at once. A thread that
//                 enters meanwhile, perhaps for the second time, has seen the change.
// Orders      O1  woken store release, load acquire: the waiter sees the list, and what was done
//                 before the wake-up.
//             O2  the word's load acquire: the waiter sees what was done before the word was
//                 changed.
// Progress    Blocking, for as long as a thread searches the list.
// Checked by  tests/model/layers/omp_wait_models.cpp: omp_event_*
#pragma once

#include "sync/mutant.hpp"
#include "sync/spin.hpp"

#include <cstdint>
#include <mutex>

namespace weft_omp {

template <class Who, class P = real_atomics>
struct word_sleeper {
  const void *word;
  Who *who;
  typename P::template plain<word_sleeper *> next{};
  typename P::template atomic<bool> woken{false};

  [[nodiscard]] bool is_woken() const noexcept {
    return woken.load(std::memory_order_acquire);
  } // O1
};

template <class Who, class P = real_atomics>
class sleeper_list {
 public:
  using sleeper = word_sleeper<Who, P>;
  using word = typename P::template atomic<std::uint32_t>;

  /// Enters `self` into the list if the word is `value`. False: the word is not `value`, and `self` is in
  /// no list.
  [[nodiscard]] bool enter(sleeper &self, const word &shared, std::uint32_t value) noexcept {
    const auto is_unchanged = [&] { return shared.load(std::memory_order_acquire) == value; }; // O2
    const bool before = unless(bug::omp_event_looks_unlocked, true, [&] { return is_unchanged(); });
    std::lock_guard lock(m_lock);
    const bool waits = unless(bug::omp_event_looks_unlocked, is_unchanged(), before); // I1
    if (waits) { // first come, first served
      self.next = nullptr;
      if (sleeper *const last = m_last)
        last->next = &self;
      else
        m_first = &self;
      m_last = &self;
    }
    return waits;
  }
  /// Takes out the waiter that has waited longest for the word; the caller signals it. Null: no
  /// thread waits.
  [[nodiscard]] Who *take(const void *word) noexcept {
    std::lock_guard lock(m_lock);
    auto *at = &m_first;
    sleeper *before = nullptr;
    while (*at && (*at)->word != word) {
      before = *at;
      at = &before->next;
    }
    Who *found = nullptr;
    if (sleeper *const s = *at) {
      *at = s->next;
      if (m_last == s)
        m_last = before;
      found = s->who;
      s->woken.store(true, std::memory_order_release); // O1, I2
    }
    return found;
  }

  /// Takes out all waiters for the word, and calls wake(waiter) for each.
  template <class Wake>
  void take_all(const void *word, Wake wake) noexcept {
    for (sleeper *s = cut_out(word); s;) {
      sleeper *const next = s->next;
      Who &who = *s->who;
      s->woken.store(true, std::memory_order_release); // O1, I2
      wake(who);
      s = next;
    }
  }

 private:
  sleeper *cut_out(const void *word) noexcept {
    std::lock_guard lock(m_lock);
    typename P::template plain<sleeper *> first{};
    auto *at = &m_first, *last = &first;
    sleeper *stays = nullptr;
    while (sleeper *const s = *at)
      if (s->word == word) {
        *last = s;
        last = &s->next;
        *at = s->next;
      } else {
        stays = s;
        at = &s->next;
      }
    m_last = stays;
    *last = nullptr;
    return first;
  }

  basic_spin_lock<P> m_lock;
  typename P::template plain<sleeper *> m_first{}, m_last{};
};

} // namespace weft_omp

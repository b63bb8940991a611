// SPDX-License-Identifier: Apache-2.0
// Who waits for a change of some word: those of several words share a list, and a wake-up looks for its own.
//
// Roles       Who waits: enter, then asleep until `woken`. Who has changed a word: take.
// Invariants  I1  Who waits looks at the word with the lock, which who wakes takes after it has changed the word: one of the two sees the other.
//             I2  A sleeper lies on the stack of who waits: `woken` is the last touch of it.
//             I3  Who wakes all takes them out at once: those who come meanwhile, perhaps for the second time, have seen the change.
// Orders      O1  woken store release, load acquire: the list, and what was done before the wake-up.
//             O2  the word's load acquire: what was done before it was changed.
// Progress    Blocking, for as long as a list is searched.
// Checked by  tests/model/omp_wait_models.cpp: omp_event_*
#pragma once

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

  [[nodiscard]] bool is_woken() const noexcept { return woken.load(std::memory_order_acquire); } // O1
};

template <class Who, class P = real_atomics>
class sleeper_list {
 public:
  using sleeper = word_sleeper<Who, P>;
  using word = typename P::template atomic<std::uint32_t>;

  /// False: the word is not `value`, and `s` in no list.
  [[nodiscard]] bool enter(sleeper &s, const word &w, std::uint32_t value) noexcept {
    if (mutant(bug::omp_event_looks_unlocked) && w.load(std::memory_order_acquire) != value)
      return false;
    std::lock_guard lock(m_lock);
    const bool waits = mutant(bug::omp_event_looks_unlocked) || w.load(std::memory_order_acquire) == value; // O2, I1
    if (waits) {
      auto *at = &m_first; // first come, first served
      while (*at)
        at = &(*at)->next;
      *at = &s;
    }
    return waits;
  }
  /// Who has waited longest for the word, and is to be signalled. Null: nobody waits.
  [[nodiscard]] Who *take(const void *w) noexcept {
    std::lock_guard lock(m_lock);
    auto *at = &m_first;
    while (*at && (*at)->word != w)
      at = &(*at)->next;
    Who *found = nullptr;
    if (sleeper *const s = *at) {
      *at = s->next;
      found = s->who;
      s->woken.store(true, std::memory_order_release); // O1, I2
    }
    return found;
  }

  /// wake(who) for each who waits for the word.
  template <class Wake>
  void take_all(const void *w, Wake wake) noexcept {
    for (sleeper *s = cut_out(w); s;) {
      sleeper *const next = s->next;
      Who &who = *s->who;
      s->woken.store(true, std::memory_order_release); // O1, I2
      wake(who);
      s = next;
    }
  }

 private:
  sleeper *cut_out(const void *w) noexcept {
    std::lock_guard lock(m_lock);
    typename P::template plain<sleeper *> first{};
    auto *at = &m_first, *last = &first;
    while (sleeper *const s = *at)
      if (s->word == w) {
        *last = s;
        last = &s->next;
        *at = s->next;
      } else {
        at = &s->next;
      }
    *last = nullptr;
    return first;
  }

  basic_spin_lock<P> m_lock;
  typename P::template plain<sleeper *> m_first{};
};

} // namespace weft_omp

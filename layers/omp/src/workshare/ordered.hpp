// SPDX-License-Identifier: Apache-2.0
// How members of a team wait for each other inside a loop: for the ordered ticket, and for a post
// (sinks and sources).
//
// Roles       The holder: has the ticket; pass_ticket. A waiter: wait_for_ticket, wait_for_post. A
//             poster: post. Each word has one poster, whose numbers grow.
// Words       m_ticket: the first iteration of the chunk that has the ticket. m_changes: the number
//             of changes for which members may wait. m_waiting: members that wait for a post.
// Invariants  I1  The holder or poster changes the awaited word before it changes m_changes. A
//                 waiter loads m_changes first, then looks at the awaited word, and sleeps while
//                 m_changes is the same. So it misses no change.
//             I2  A poster leaves m_changes alone while no member waits for a post. A waiter counts
//                 itself in m_waiting before it looks at the word. So one of the two sees the
//                 other.
// Orders      O1  m_ticket store release, load acquire: the new holder sees what earlier holders
//                 did.
//             O2  m_changes fetch_add release, load acquire: I1.
//             O3  A word's store seq_cst, then m_waiting load seq_cst; m_waiting fetch_add seq_cst,
//                 then the word's load seq_cst: I2. The waiter sees what the poster did before the
//                 post.
//             O4  A word's load acquire, with O3: the waiter sees what the poster did before the
//                 post.
// Progress    A waiter sleeps. pass_ticket and post are wait-free, apart from waking others.
// Checked by  tests/model/layers/omp_loop_models.cpp: omp_ordered_*, omp_sink_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class P = real_atomics>
class basic_ordered {
 public:
  using word = typename P::template atomic<std::uint32_t>;
  using post_word = typename P::template atomic<std::uint64_t>;

  /// Begins a loop. No member uses the object meanwhile.
  void begin() noexcept { m_ticket.store(0, std::memory_order_relaxed); }

  /// Waits until the chunk that begins with iteration `first` has the ticket.
  /// `wait(word, value)`: returns at once if the word is not `value`, else after a wake-up.
  template <class Wait>
  void wait_for_ticket(std::uint64_t first, Wait wait) noexcept {
    wait_until([&] { return m_ticket.load(std::memory_order_acquire) >= first; }, wait); // O1
  }
  /// Passes the ticket to the chunk that begins with iteration `next`. `wake(word)`: wakes all
  /// waiters of the word.
  template <class Wake>
  void pass_ticket(std::uint64_t next, Wake wake) noexcept {
    m_ticket.store(next, std::memory_order_release); // O1
    change(wake);
  }

  template <class Wait>
  void wait_for_post(const post_word &at, std::uint64_t number, Wait wait) noexcept {
    if (at.load(std::memory_order_acquire) >= number) // O4
      return;
    m_waiting.fetch_add(1,
                        order_unless(bug::omp_sink_unpublished, std::memory_order_seq_cst)); // O3
    wait_until([&] { return at.load(std::memory_order_seq_cst) >= number; }, wait); // O3
    m_waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  template <class Wake>
  void post(post_word &at, std::uint64_t number, Wake wake) noexcept {
    at.store(number, std::memory_order_seq_cst); // O3
    if (m_waiting.load(std::memory_order_seq_cst) != 0) // O3
      change(wake);
  }

 private:
  template <class There, class Wait>
  void wait_until(There there, Wait wait) noexcept {
    for (;;) {
      const std::uint32_t seen = m_changes.load(std::memory_order_acquire); // O2
      if (there())
        return;
      wait(m_changes, unless(bug::omp_ordered_waits_for_change_seen, seen,
                             [&] { return m_changes.load(std::memory_order_acquire); })); // O2
    }
  }
  template <class Wake>
  void change(Wake wake) noexcept {
    m_changes.fetch_add(1, std::memory_order_release); // O2
    wake(m_changes);
  }

  post_word m_ticket{0};
  word m_changes{0}, m_waiting{0};
};

} // namespace weft_omp

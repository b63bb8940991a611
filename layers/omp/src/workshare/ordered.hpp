// SPDX-License-Identifier: Apache-2.0
// Members of a team that wait for each other inside of a loop: for the ordered ticket, for a post (sinks and sources).
//
// Roles       pass_ticket: who has the ticket. wait_for_ticket: whoever wants it. post: one member for each word, with numbers that grow. wait_for_post: any.
// Words       m_ticket: the first iteration of the chunk that has the ticket. m_changes: how often something changed that may be waited for. m_waiting:
//             members that wait for a post.
// Invariants  I1  What is waited for changes before m_changes does; who waits loads m_changes first, and sleeps while it is the same: it cannot miss a change.
//             I2  Who posts while nobody waits leaves m_changes alone: who waits has said so before it looks at the word, so one of the two sees the other.
// Orders      O1  m_ticket store release, load acquire: what was done by those who had the ticket before.
//             O2  m_changes fetch_add release, load acquire: I1.
//             O3  A word's store seq_cst, then m_waiting load seq_cst; m_waiting fetch_add seq_cst, then the word's load seq_cst: I2, and what was done before the post.
//             O4  A word's load acquire, with O3: what was done before the post.
// Progress    Who waits sleeps; tickets and posts are wait-free but for waking others.
// Checked by  tests/model/omp_loop_models.cpp: omp_ordered_*, omp_sink_*
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

  /// While nobody looks.
  void begin() noexcept { m_ticket.store(0, std::memory_order_relaxed); }

  /// `wait(word, value)`: returns at once when the word is not the value, else when it was woken.
  template <class Wait>
  void wait_for_ticket(std::uint64_t first, Wait wait) noexcept {
    wait_until([&] { return m_ticket.load(std::memory_order_acquire) >= first; }, wait); // O1
  }
  /// The ticket is passed to the chunk that begins with iteration `next`. `wake(word)`: all who wait on it.
  template <class Wake>
  void pass_ticket(std::uint64_t next, Wake wake) noexcept {
    m_ticket.store(next, std::memory_order_release); // O1
    change(wake);
  }

  template <class Wait>
  void wait_for_post(const post_word &at, std::uint64_t number, Wait wait) noexcept {
    if (at.load(std::memory_order_acquire) >= number) // O4
      return;
    m_waiting.fetch_add(1, order_unless(bug::omp_sink_unpublished, std::memory_order_seq_cst)); // O3
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
      const bool early = mutant(bug::omp_ordered_waits_for_change_seen) && there();
      const std::uint32_t seen = m_changes.load(std::memory_order_acquire); // O2
      if (mutant(bug::omp_ordered_waits_for_change_seen) ? early : there())
        return;
      wait(m_changes, seen);
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

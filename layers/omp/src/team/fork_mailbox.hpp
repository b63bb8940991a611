// SPDX-License-Identifier: Apache-2.0
// The regions that the members of a team are sent to, one after the other. All of them look at one cache line.
//
// Roles       One sender at a time. Members, which look, and sleep while no message is for them; more of them than the region has, perhaps.
// Words       m_sent: regions so far (44 bits), threads of the last one (20 bits). m_message: what the last one is, in the same line.
// Invariants  I1  Who sleeps is parked before it looks for a message, who sends one looks for who is parked afterwards: one of the two sees the other (parker_word.hpp).
//             I2  The next message is sent when the threads of the last one are done with it. A member that is none of them does not look at m_message.
// Orders      O1  m_sent store seq_cst; load acquire: the message; load seq_cst: I1.
// Progress    Wait-free.
// Checked by  tests/model/omp_wait_models.cpp: omp_fork_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>
#include <utility>

namespace weft_omp {

template <class Message, class P = real_atomics>
class basic_fork_mailbox {
 public:
  static constexpr std::uint64_t k_none = ~std::uint64_t{0};

  /// Then members are to be woken.
  void send(const Message &message, unsigned threads) noexcept {
    m_message = message; // I2
    const std::uint64_t before = m_sent.load(std::memory_order_relaxed) / k_one;
    m_sent.store((before + 1) * k_one + threads, order_unless(bug::omp_fork_unseen, std::memory_order_seq_cst)); // O1
  }
  /// `known`: regions that member `i` knows of, k_none of one that is new; changed. True: it is sent to the last one.
  [[nodiscard]] bool is_for(unsigned i, std::uint64_t &known) const noexcept {
    const std::uint64_t seen = m_sent.load(std::memory_order_acquire); // O1
    return seen / k_one != std::exchange(known, seen / k_one) && (i < seen % k_one || mutant(bug::omp_fork_of_others));
  }
  [[nodiscard]] Message last() const noexcept { return m_message; }
  /// Of who is about to sleep, after it has published itself.
  [[nodiscard]] bool is_unchanged(std::uint64_t known) const noexcept { return m_sent.load(std::memory_order_seq_cst) / k_one == known; } // O1

 private:
  static constexpr std::uint64_t k_one = std::uint64_t{1} << 20;
  typename P::template atomic<std::uint64_t> m_sent{0};
  typename P::template plain<Message> m_message{};
};

} // namespace weft_omp

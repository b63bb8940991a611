// SPDX-License-Identifier: Apache-2.0
// The mailbox through which the members of a team receive their regions, one after the other. All
// members read one cache line.
//
// Roles       The sender: sends a message. There is one at a time. A member: looks, and sleeps
//             while no message is for it. There may be more members than the region has threads.
// Words       m_sent: regions so far (44 bits), threads of the last one (20 bits). m_message: the
//             last region, in the same line.
// Invariants  I1  A member is parked before it looks for a message for the last time. The sender
//                 looks for parked members after it has sent. So one of the two sees the other
//                 (parker_word.hpp).
//             I2  The sender sends the next message when the threads of the last region are done
//                 with theirs. A member outside of the last region does not read m_message.
// Orders      O1  m_sent store seq_cst. load acquire: a member sees the message. load seq_cst: I1.
// Progress    Wait-free.
// Checked by  tests/model/layers/omp_wait_models.cpp: omp_fork_*
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

  /// Sends a message to the first `threads` members. The caller wakes them afterwards.
  void send(const Message &message, unsigned threads) noexcept {
    m_message = message; // I2
    const std::uint64_t before = m_sent.load(std::memory_order_relaxed) / k_one;
    m_sent.store((before + 1) * k_one + threads,
                 order_unless(bug::omp_fork_unseen, std::memory_order_seq_cst)); // O1
  }
  /// Returns whether there is a region that member `i` does not know and belongs to. `known`: the
  /// regions that the member knows of, which is updated; k_none for a new member.
  [[nodiscard]] bool is_for(unsigned i, std::uint64_t &known) const noexcept {
    const std::uint64_t seen = m_sent.load(std::memory_order_acquire); // O1
    return seen / k_one != std::exchange(known, seen / k_one) &&
           unless(bug::omp_fork_of_others, i < seen % k_one, true);
  }
  [[nodiscard]] Message last() const noexcept { return m_message; }
  /// Returns whether no region was sent since `known`. A member calls it when it is about to sleep,
  /// after it has published itself.
  [[nodiscard]] bool is_unchanged(std::uint64_t known) const noexcept {
    return m_sent.load(std::memory_order_seq_cst) / k_one == known;
  } // O1
  /// Returns whether a region was sent since `known`, of which the caller has kept the lower
  /// k_kept_bits.
  [[nodiscard]] bool has_changed(std::uint64_t known) const noexcept {
    return ((m_sent.load(std::memory_order_seq_cst) / k_one ^ known) << (64 - k_kept_bits)) != 0;
  } // O1
  static constexpr int k_kept_bits = 40;

 private:
  static constexpr std::uint64_t k_one = std::uint64_t{1} << 20;
  typename P::template atomic<std::uint64_t> m_sent{0};
  typename P::template plain<Message> m_message{};
};

} // namespace weft_omp

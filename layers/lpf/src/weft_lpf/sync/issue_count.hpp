// SPDX-License-Identifier: Apache-2.0
// Counts the messages of a superstep to one process, while another thread may end the superstep.
//
// Roles       A sender: add. The ender of a superstep, one at a time: close.
// Word        m_word: the number of the superstep in the upper 32 bits, its messages in the lower.
// Invariants  I1  add() returns the superstep in whose count the message is; close() returns the count
//                 of all messages that were given the superstep which it ends.
// Orders      None: the word carries no data. What is sent is ordered by its arrival.
// Progress    Wait-free.
// Source      Task-Aware LPF (2023), section 6.2, which reads and clears the count in two steps.
// Checked by  tests/model/layers/lpf_models.cpp: lpf_issue_*
#pragma once

#include "weft_lpf/sync/atomics.hpp"
#include "weft_lpf/sync/mutant.hpp"

#include <cstdint>

namespace weft_lpf {

template <class P = real_atomics>
class issue_count {
 public:
  explicit issue_count(std::uint32_t first = 1) noexcept : m_word(std::uint64_t{first} << 32) {}

  /// Counts a message. Returns its superstep.
  [[nodiscard]] std::uint32_t add() noexcept {
    return static_cast<std::uint32_t>(m_word.fetch_add(1, std::memory_order_relaxed) >> 32);
  }
  /// Ends the superstep before `next`. Returns its messages.
  [[nodiscard]] std::uint32_t close(std::uint32_t next) noexcept {
    const std::uint64_t after = std::uint64_t{next} << 32;
    return static_cast<std::uint32_t>(unless(
        bug::lpf_close_loses,
        [this, after] { return m_word.exchange(after, std::memory_order_relaxed); },
        [this, after] {
          const std::uint64_t seen = m_word.load(std::memory_order_relaxed);
          m_word.store(after, std::memory_order_relaxed);
          return seen;
        }));
  }

 private:
  typename P::template atomic<std::uint64_t> m_word;
};

} // namespace weft_lpf

// SPDX-License-Identifier: Apache-2.0
// Hands out the chunks of a loop that several workers share.
//
// Roles       Any number of participants: take, close, exhausted.
// Word        m_next: the number of the next chunk; the total or more when there is none.
// Invariants  I1  Every number below the total is handed out at most once, and without a close()
//                 exactly once: the additions have one order.
//             I2  After a close() no chunk is handed out that was not taken before it: the word
//                 only grows past the total, or is set back to the total.
//             I3  The word does not wrap: the total is at most 2^63, and a participant stops at its
//                 first failure.
// Orders      None: a chunk carries no data. What the loop's bodies read was written before the
//             participants began. The end of the participants passes on what the bodies write.
// Progress    Wait-free.
// Reclamation The counter lives in the frame of the loop, which waits for all participants.
// Checked by  tests/model/loop_models.cpp: chunks_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class chunk_counter {
 public:
  static constexpr std::uint64_t k_most = std::uint64_t{1} << 63;

  explicit chunk_counter(std::uint64_t total) noexcept : m_total(total) {}

  /// Takes the next chunk. Returns false if there is none left.
  [[nodiscard]] bool take(std::uint64_t &chunk) noexcept {
    if (exhausted())
      return false;
    chunk = unless(
        bug::chunk_taken_in_two_steps,
        [&] { return m_next.fetch_add(1, std::memory_order_relaxed); },
        [&] {
          const std::uint64_t seen = m_next.load(std::memory_order_relaxed);
          m_next.store(seen + 1, std::memory_order_relaxed);
          return seen;
        });
    return chunk < m_total;
  }
  [[nodiscard]] bool exhausted() const noexcept {
    return m_next.load(std::memory_order_relaxed) >= m_total;
  } // a hint
  /// Skips the chunks that are not taken yet.
  void close() noexcept {
    m_next.store(unless(bug::chunk_close_leaves_one, m_total, m_total - 1),
                 std::memory_order_relaxed);
  }

 private:
  const std::uint64_t m_total;
  typename P::template atomic<std::uint64_t> m_next{0};
};

} // namespace rt
} // namespace weft::inline v0

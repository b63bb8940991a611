// SPDX-License-Identifier: Apache-2.0
// The schedule static_steal. The chunks of a loop are split among the members of a team beforehand.
// A member whose range is empty steals half of another one's.
//
// Roles       The member that sets the loop up: split_chunks. The owner of a range: take, put; it
//             calls steal when its range is empty. A thief, any other member: give_half.
// Word        m_word: next chunk (upper half), end of the range (lower half). Empty: next is not
//             below the end.
// Invariants  I1  A chunk that was not handed out is in one word, or is held by one thief. The
//                 owner or the thief takes chunks by changing the word that holds them. The word is
//                 the range's whole state, so it does no harm when it has an earlier value again.
//             I2  Only its owner changes an empty word, so what the owner puts there replaces no
//                 chunk.
//             I3  next is at most one past the end, and so never overflows: the owner adds to a
//                 word that it has seen not to be empty, and thieves lower the end to next at most.
//             I4  Half of one chunk is that chunk, so no chunk has to wait for an owner that comes
//                 late.
// Orders      None, because chunks carry no data. The lock of the loop's record orders split_chunks
//             before all other calls. The barrier orders what the iterations do.
// Progress    take is wait-free. give_half and steal are lock-free: a word changes only because
//             some member has got a chunk.
// Reclamation The words live as long as the team's members do. A later loop uses a loop's words
//             again when all members have left that loop.
// Checked by  tests/model/omp_loop_models.cpp: omp_static_steal_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class P = real_atomics>
class basic_chunk_range {
 public:
  static constexpr std::uint64_t k_most = UINT32_MAX - 1; // chunks of a loop: I3

  /// Makes [first, end) the chunks of an empty range. Its owner calls it, or another member while
  /// no member uses the range.
  void put(std::uint32_t first, std::uint32_t end) noexcept {
    m_word.store(word(first, end), std::memory_order_relaxed);
  }

  /// Takes the next chunk. Returns false if the range is empty.
  [[nodiscard]] bool take(std::uint32_t &chunk) noexcept {
    if (unless(bug::omp_static_steal_overshoots, left() == 0))
      return false;
    const std::uint64_t seen = take_one();
    chunk = next_of(seen);
    return left_in(seen) != 0;
  }

  /// Gives the caller the upper half of what is left, [first, end). Returns false if the range is
  /// empty.
  [[nodiscard]] bool give_half(std::uint32_t &first, std::uint32_t &end) noexcept {
    std::uint64_t seen = m_word.load(std::memory_order_relaxed);
    while (left_in(seen) != 0) {
      end = end_of(seen);
      first = next_of(seen) + left_in(seen) / 2; // I4
      if (m_word.compare_exchange_weak(seen, word(next_of(seen), first), std::memory_order_relaxed,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  [[nodiscard]] std::uint32_t left() const noexcept {
    return left_in(m_word.load(std::memory_order_relaxed));
  }

 private:
  static constexpr std::uint64_t word(std::uint32_t next, std::uint32_t end) noexcept {
    return std::uint64_t{next} << 32 | end;
  }
  static constexpr std::uint32_t next_of(std::uint64_t w) noexcept {
    return static_cast<std::uint32_t>(w >> 32);
  }
  static constexpr std::uint32_t end_of(std::uint64_t w) noexcept {
    return static_cast<std::uint32_t>(w);
  }
  static constexpr std::uint32_t left_in(std::uint64_t w) noexcept {
    return next_of(w) < end_of(w) ? end_of(w) - next_of(w) : 0;
  }

  std::uint64_t take_one() noexcept {
    return unless(
        bug::omp_static_steal_taken_in_two_steps,
        [&] { return m_word.fetch_add(word(1, 0), std::memory_order_relaxed); },
        [&] {
          const std::uint64_t seen = m_word.load(std::memory_order_relaxed);
          m_word.store(seen + word(1, 0), std::memory_order_relaxed);
          return seen;
        });
  }

  typename P::template atomic<std::uint64_t> m_word{0};
};
using chunk_range = basic_chunk_range<>;

/// Splits the chunks [0, chunks) into the ranges of the members: range_of(0) and so on.
template <class RangeOf>
void split_chunks(std::uint64_t chunks, unsigned members, RangeOf range_of) noexcept {
  for (unsigned i = 0; i < members; ++i)
    range_of(i).put(static_cast<std::uint32_t>((chunks * i + members - 1) / members),
                    static_cast<std::uint32_t>((chunks * (i + 1) + members - 1) / members));
}

/// Steals half of the fullest range for a member whose range is empty: one chunk in `chunk`, the
/// others in its range. Returns false if all ranges seem to be empty.
template <class RangeOf>
[[nodiscard]] bool steal(unsigned members, unsigned me, RangeOf range_of,
                         std::uint32_t &chunk) noexcept {
  for (;;) {
    unsigned fullest = me;
    std::uint32_t most = 0;
    for (unsigned i = 0; i < members; ++i)
      if (const std::uint32_t left = i == me ? 0 : range_of(i).left(); left > most) {
        fullest = i;
        most = left;
      }
    if (most == 0)
      return false;
    std::uint32_t end = 0;
    if (!range_of(fullest).give_half(chunk, end))
      continue;
    unless(bug::omp_static_steal_rest_lost, [&] { range_of(me).put(chunk + 1, end); }); // I2
    return true;
  }
}

} // namespace weft_omp

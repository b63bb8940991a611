// SPDX-License-Identifier: Apache-2.0
// The chunks of a loop, split among its participants beforehand. A participant whose range is empty
// steals half of another one's. The loops of the core and those of OpenMP (static_steal) use it.
//
// Roles       The thread that sets the loop up: split_chunks. The owner of a range: take, put, drop;
//             it calls steal when its range is empty. A thief, any other participant: give_half.
// Word        m_word: next chunk (upper half), end of the range (lower half). Empty: next is not
//             below the end.
// Invariants  I1  A chunk that was not handed out is in one word, or is held by one thief. The
//                 owner or the thief takes chunks by changing the word that holds them. The word is
//                 the range's whole state, so it does no harm when it has an earlier value again.
//             I2  Only its owner changes an empty word, so what the owner puts there replaces no
//                 chunk.
//             I3  next is at most as far as the end was when the owner saw it, and so never
//                 overflows: the owner adds no more chunks than it has seen in the word, and
//                 thieves lower the end to next at most. What lies beyond the end is a thief's: the
//                 owner leaves it.
//             I4  Half of one chunk is that chunk, so no chunk has to wait for an owner that comes
//                 late.
// Orders      None, because chunks carry no data. What begins the loop orders split_chunks before
//             all other calls. What ends the loop orders what the iterations do.
// Progress    take and drop are wait-free. give_half and steal are lock-free: a word changes only
//             because some participant has got a chunk.
// Reclamation The words live as long as the loop's participants do. A later loop uses a loop's words
//             again when all participants have left that loop.
// Checked by  tests/model/loop_models.cpp: chunk_range_*
#pragma once

#include <weft/detail/lock_word.hpp>

#include <algorithm>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Leaves the protocol as it is. The tests put bugs in its place.
struct no_chunk_range_bugs {
  template <class Right>
  [[gnu::always_inline]] static constexpr bool sees_empty(Right is_empty) noexcept {
    return is_empty;
  }
  template <class Right, class Wrong>
  [[gnu::always_inline]] static auto add(Right in_one_step, Wrong) noexcept {
    return in_one_step();
  }
  template <class Right, class Wrong>
  [[gnu::always_inline]] static std::uint32_t taken(Right up_to_the_end, Wrong) noexcept {
    return up_to_the_end();
  }
  template <class Right>
  [[gnu::always_inline]] static void keep_rest(Right put) noexcept {
    put();
  }
};

template <class P = std_atomics, class Bugs = no_chunk_range_bugs>
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
    if (Bugs::sees_empty(left() == 0))
      return false;
    const std::uint64_t seen = add(1);
    chunk = next_of(seen);
    return left_in(seen) != 0;
  }

  /// Takes the next chunks, `want` at most, from `first` on. Returns how many; 0 if the range is
  /// empty.
  [[nodiscard]] std::uint32_t take(std::uint32_t want, std::uint32_t &first) noexcept {
    const std::uint32_t most = std::min(want, left()); // I3
    if (most == 0)
      return 0;
    const std::uint64_t seen = add(most);
    first = next_of(seen);
    return Bugs::taken([=] { return std::min(most, left_in(seen)); }, [=] { return most; });
  }

  /// Empties the range. What was in it is handed out to no participant.
  void drop() noexcept { m_word.exchange(word(0, 0), std::memory_order_relaxed); }

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
  static constexpr std::uint32_t next_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t end_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint32_t left_in(std::uint64_t word) noexcept {
    return next_of(word) < end_of(word) ? end_of(word) - next_of(word) : 0;
  }

  std::uint64_t add(std::uint32_t chunks) noexcept {
    return Bugs::add(
        [this, chunks] { return m_word.fetch_add(word(chunks, 0), std::memory_order_relaxed); },
        [this, chunks] {
          const std::uint64_t seen = m_word.load(std::memory_order_relaxed);
          m_word.store(seen + word(chunks, 0), std::memory_order_relaxed);
          return seen;
        });
  }

  typename P::template atomic<std::uint64_t> m_word{0};
};

/// Splits the chunks [0, chunks) into the ranges of the members: range_of(0) and so on.
template <class RangeOf>
void split_chunks(std::uint64_t chunks, unsigned members, RangeOf range_of) noexcept {
  for (unsigned i = 0; i < members; ++i)
    range_of(i).put(static_cast<std::uint32_t>((chunks * i + members - 1) / members),
                    static_cast<std::uint32_t>((chunks * (i + 1) + members - 1) / members));
}

/// Steals half of the fullest range for a member whose range is empty: one chunk in `chunk`, the
/// others in its range. Returns false if all ranges seem to be empty.
template <class Bugs = no_chunk_range_bugs, class RangeOf>
[[nodiscard]] bool steal_half(unsigned members, unsigned me, RangeOf range_of,
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
    Bugs::keep_rest([&] { range_of(me).put(chunk + 1, end); }); // I2
    return true;
  }
}

} // namespace detail
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// The schedule static_steal: ranges of chunks, one a member (<weft/detail/chunk_range.hpp>), from
// which a member takes as many adjacent chunks as take some microseconds
// (<weft/detail/loop_blocks.hpp>).
#pragma once

#include <weft/detail/chunk_range.hpp>
#include <weft/detail/loop_block_setting.hpp>
#include <weft/detail/loop_blocks.hpp>
#include <weft/detail/run_loop.hpp>

#include <algorithm>
#include <cstdint>

namespace weft_omp {

using chunk_range = weft::detail::basic_chunk_range<>;
using weft::detail::split_chunks;
using weft::detail::steal_half;

/// Says how many chunks a member takes at once. `Clock` tells the time in nanoseconds.
template <std::uint64_t (*Clock)() noexcept>
class basic_chunk_pace {
 public:
  /// Begins a loop.
  void begin(bool takes_single_chunks) noexcept {
    m_takes_single_chunks = takes_single_chunks;
    m_block = 0;
    m_ns = 0;
  }
  /// Returns how many chunks the member takes when `left` are in its range.
  [[nodiscard]] std::uint32_t next(std::uint32_t left) noexcept {
    if (left < k_few || m_takes_single_chunks) {
      m_block = 0;
      return 1;
    }
    return next_of_many(left);
  }
  /// Says that what the member runs was not taken by the last next().
  void lose_time() noexcept { m_block = 0; }

 private:
  static constexpr std::uint32_t k_few = 8; // a quarter of fewer is one: no clock is read

  [[gnu::noinline]] std::uint32_t next_of_many(std::uint32_t left) noexcept {
    const std::uint64_t now = Clock();
    std::uint32_t want = 1;
    if (m_block != 0) {
      m_ns = weft::detail::blend(m_ns, static_cast<double>(now - m_began_at) / m_block);
      want = static_cast<std::uint32_t>(
          weft::detail::next_block(m_block, m_ns, left, weft::detail::loop_block_ns()));
    }
    m_began_at = now;
    m_block = want;
    return want;
  }

  std::uint64_t m_began_at = 0; // the block that the member has
  double m_ns = 0; // of a chunk; 0: unknown
  std::uint32_t m_block = 0; // chunks of the block; 0: its time is not taken
  bool m_takes_single_chunks = false;
};
using chunk_pace = basic_chunk_pace<&weft::detail::loop_clock>;

} // namespace weft_omp

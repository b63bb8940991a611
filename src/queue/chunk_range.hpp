// SPDX-License-Identifier: Apache-2.0
// The ranges of chunks of <weft/detail/chunk_range.hpp>, with their seeded bugs.
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <weft/detail/chunk_range.hpp>

namespace weft::inline v0 {
namespace rt {

struct chunk_range_bugs {
  static bool sees_empty(bool is_empty) noexcept {
    return unless(bug::chunk_range_overshoots, is_empty);
  }
  template <class Right, class Wrong>
  static auto add(Right in_one_step, Wrong in_two_steps) noexcept {
    return unless(bug::chunk_range_taken_in_two_steps, [&] { return in_one_step(); }, in_two_steps);
  }
  template <class Right, class Wrong>
  static std::uint32_t taken(Right up_to_the_end, Wrong all) noexcept {
    return unless(bug::chunk_range_takes_beyond, [&] { return up_to_the_end(); }, all);
  }
  template <class Right>
  static void keep_rest(Right put) noexcept {
    unless(bug::chunk_range_rest_lost, [&] { put(); });
  }
};

template <class P = real_atomics>
using basic_chunk_range = detail::basic_chunk_range<P, chunk_range_bugs>;
using chunk_range = basic_chunk_range<>;

/// Steals as detail::steal_half().
template <class RangeOf>
[[nodiscard]] bool steal_half(unsigned members, unsigned me, RangeOf range_of,
                              std::uint32_t &chunk) noexcept {
  return detail::steal_half<chunk_range_bugs>(members, me, range_of, chunk);
}

} // namespace rt
} // namespace weft::inline v0

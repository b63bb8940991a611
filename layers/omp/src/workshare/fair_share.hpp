// SPDX-License-Identifier: Apache-2.0
// Fair shares of a guided loop whose shares stay open: a member takes one from the loop's counter,
// puts it into its own range (<weft/detail/chunk_range.hpp>), and other members take halves of what
// it has not begun when the counter has no more.
//
// Roles       A member, which comes when its own range is empty: take_fair_share, then put of its
//             range; where there is no share it steals, as in a loop that is split beforehand.
// Word        The counter: the first chunk of the loop that has come into no range. The loop's last
//             chunk, `shared`, never does: the member that finds nothing else moves the counter
//             behind it.
// Invariants  I1  The counter only grows, and a share is what lies between two of its values: so no
//                 chunk is in two shares.
//             I2  A member takes a share only when its range is empty, so what it puts there
//                 replaces no chunk (I2 of chunk_range.hpp).
// Orders      None, because chunks carry no data (chunk_range.hpp).
// Progress    Lock-free: the counter changes only because some member has got a share.
// Checked by  tests/model/layers/omp_loop_models.cpp: omp_fair_*
#pragma once

#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

/// Takes the next share, [first, end), of the chunks from 0 to `shared`: as many as each of the
/// members would get of those that are in no share yet. Returns false if there are none.
template <class Counter>
[[nodiscard]] bool take_fair_share(Counter &counter, std::uint64_t shared, unsigned members,
                                   std::uint32_t &first, std::uint32_t &end) noexcept {
  std::uint64_t at = counter.load(std::memory_order_relaxed);
  while (at < shared) {
    const std::uint64_t fair = (shared - at - 1) / members + 1;
    const bool is_mine = unless(
        bug::omp_fair_share_taken_in_two_steps,
        [&] {
          return counter.compare_exchange_weak(at, at + fair, std::memory_order_relaxed,
                                               std::memory_order_relaxed);
        },
        [&] {
          counter.store(at + fair, std::memory_order_relaxed);
          return true;
        });
    if (is_mine) {
      first = static_cast<std::uint32_t>(at);
      end = static_cast<std::uint32_t>(at + fair);
      return true;
    }
  }
  return false;
}

} // namespace weft_omp

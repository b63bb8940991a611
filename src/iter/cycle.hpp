// SPDX-License-Identifier: Apache-2.0
// The counters of a graph that is run again and again: who may begin the next round, and when all is over.
//
// Edges       u -> v within a round: v's round i waits for u's round i. u -> v to the next round: v's round i + 1 waits for u's round i.
//             They come from conflicts over data, and two tasks in conflict take turns for ever. So with an edge goes a path back (E):
//             within a round, u's round i + 1 comes after v's round i; to the next round, u's round i comes after v's round i.
// Roles       The runner of a node: who got it from `ready`, calls begin, runs the body, then end. One at a time per node.
// Word        missing: tokens that the node's next round still waits for. left: nodes that have another round to begin or to end,
//             plus one while the graph is being started. stop: no further body is run.
// Invariants  I1  A token for v's round i + 1 comes after the end of v's round i (by E, whichever kind of edge it came over). So the
//                 runner of v is alone with `missing` and `rounds` until it has passed on its first token.
//             I2  Once a runner has seen stop, so do all that it passes tokens to: the flag only rises, and what follows a token
//                 in time reads no older value.
//             I3  A node's last round is the one whose begin saw stop or took the last of `rounds`. The tokens that it still
//                 gets belong to no round; one more than they can be is missing, so it does not become ready again.
//             I4  Every node has a last round. With the stop: the token of a last round that saw it makes its receiver's next
//                 round a last one (I2), so nobody waits for a round of u after u's last.
//             I5  While a runner has tokens to pass on, somebody has not had its last round: for a round that is not the last, the
//                 receiver that lacks the token; for the last, the runner itself. So `left` is not zero, and the graph is there.
// Orders      O1  missing is rearmed, relaxed: before the first token is passed on, which publishes it (I1, O2).
//             O2  tokens: take_away, see task/countdown.hpp: what the predecessors wrote is passed on; a node's plain fields with it.
//             stop is relaxed: I2 needs coherence only.
//             O3  left: take_away: who ends the graph sees all rounds ended.
// Progress    Wait-free.
// Reclamation Who gets true from end, or from started, owns the graph. Nobody else touches it then (I5).
// Source      Own; the idea of a cyclic graph that is built once is that of Alvarez and Beltran's taskiter (OmpSs-2), where each edge has a
//             counter of its own.
// Checked by  tests/model/cycle_models.cpp: cycle_*
#pragma once

#include "base/mutant.hpp"
#include "task/countdown.hpp"
#include "weft/detail/core.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P>
struct alignas(64) cycle_node : detail::runnable {
  typename P::template atomic<std::uint32_t> missing{0};
  std::uint32_t degree = 0;                          // tokens of a round, from the second on
  typename P::template var<std::uint64_t> rounds{};  // not begun yet
  cycle_node **successors = nullptr;                 // within the round and to the next one
  std::uint32_t successor_count = 0;
};

template <class P>
struct cycle {
  using node = cycle_node<P>;

  typename P::template atomic<bool> stop{false};
  typename P::template atomic<std::uint32_t> left{1};

  /// False: the body is not to be run. `stopped`: somebody else has said so, for good.
  [[nodiscard]] WEFT_INLINE bool begin(node &n, bool stopped) noexcept {
    if (stop.load(std::memory_order_relaxed) || stopped) [[unlikely]] {
      n.rounds.set(0);
      return false;
    }
    n.rounds.set(n.rounds.get() - 1);
    return true;
  }

  /// Calls ready(node) for every node that may begin a round. True: the graph is over, the caller's.
  template <class Ready>
  [[nodiscard]] WEFT_INLINE bool end(node &n, Ready &&ready) noexcept {
    const bool last = n.rounds.get() == 0;
    if (n.degree == 0 && !last) { // alone: no edge without a way back
      ready(n);
      return false;
    }
    node **next = n.successors, **const none = next + n.successor_count;
    if (!mutant(bug::cycle_rearmed_late))
      n.missing.store(n.degree + (last ? 1 : 0), std::memory_order_relaxed); // O1
    for (; next != none; ++next)
      if (node &s = **next; take_away(s.missing, 1)) // O2
        ready(s);
    if (mutant(bug::cycle_rearmed_late))
      n.missing.store(n.degree + (last ? 1 : 0), std::memory_order_relaxed);
    return last && take_away(left, 1); // O3
  }

  /// All nodes of the first round have been given away. True: the graph is over, the caller's.
  [[nodiscard]] bool started() noexcept { return take_away(left, 1); } // O3
};

} // namespace rt
} // namespace weft::inline v0

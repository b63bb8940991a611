// SPDX-License-Identifier: Apache-2.0
// The counters of a graph that is run again and again: which node may begin its next round, and
// when the graph is over.
//
// Edges       u -> v within a round: v's round i waits for u's round i. u -> v to the next round:
//             v's round i + 1 waits for u's round i. Edges come from conflicts over data, and two
//             tasks in conflict take turns for ever. So with each edge goes a path back (E):
//             - Edge within a round: u's round i + 1 comes after v's round i.
//             - Edge to the next round: u's round i comes after v's round i.
//             So a node without edges that enter it has none that leave it: it waits for no token,
//             and end gives it to its next round at once.
// Roles       The runner of a node: the thread that got the node from `ready`. It calls begin, runs
//             the body, then calls end, which passes a token along each edge that leaves the node.
//             A node has one runner at a time. The starter: gives away the nodes whose first round
//             waits for no token, then calls started.
// Word        missing: tokens that the node's next round still waits for. `degree` is their number:
//             one for each edge that enters the node. The first round waits only for the edges
//             within the round. left: nodes that have another round to begin or to end, plus one
//             while the graph is being started. stop: a round that begins after it runs no body.
//             The argument `stopped` of begin is a second flag of that kind, of the caller.
//             rounds: rounds that the node has not begun yet; a plain field, at first the same in
//             all nodes.
// Invariants  I1  A token for v's round i + 1 comes after the end of v's round i (by E, over either
//                 kind of edge). So only the runner of v uses `missing` and `rounds` until it has
//                 passed on its first token.
//             I2  Once a runner has seen one of the two flags, all runners that it passes tokens to
//                 see that flag: it only rises, and a runner that follows a token in time reads no
//                 older value. Below, `stop` stands for either flag.
//             I3  A node's last round is the one whose begin saw stop or took the last of `rounds`.
//                 The tokens that the node still gets belong to no round. `missing` is one more
//                 than those tokens can be, so the node does not become ready again.
//             I4  Every node has a last round, and no node waits for a round of u after u's last
//                 one. Without the stop, all nodes have the same number of rounds. With it: if u's
//                 last round saw stop, its token makes the receiver's next round a last one (I2).
//             I5  While a runner has tokens to pass on, some node has not had its last round. If
//                 the runner's round is not the last, that is the receiver that lacks the token: by
//                 E and I2, a last round of the receiver before would have made the runner's round
//                 the last, too. If the round is the last, it is the runner's own node, which is
//                 taken from `left` after its tokens. So `left` is not zero, and the graph exists.
//             I6  If u's one edge leads to v within a round, and no other edge enters v, u's token makes v
//                 ready, unless v has had its last round. The runner of u may read that from v's
//                 `rounds`: v's last round came before u's round (E). So it may begin v's round itself,
//                 and pass on no token: v's `missing` stays what v's end stores anyway.
// Orders      O1  missing is rearmed, relaxed: before the runner passes on its first token, which
//                 publishes the store (I1, O2).
//             O2  tokens: take_away, see task/countdown.hpp: the runner of the successor sees what
//                 the runners of the predecessors wrote, and the node's plain fields.
//             stop is relaxed: I2 needs coherence only.
//             O3  left: take_away: the thread that ends the graph sees all rounds ended.
// Progress    Wait-free.
// Reclamation The thread that gets true from end, or from started, owns the graph. No other thread
//             touches the graph then (I5).
// Source      Own. The idea of a cyclic graph that is built once is that of Alvarez and Beltran's
//             taskiter (OmpSs-2), where each edge has a counter of its own.
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
  std::uint32_t degree = 0; // tokens of a round, from the second on
  typename P::template var<std::uint64_t> rounds{}; // not begun yet
  cycle_node **successors = nullptr; // of edges within the round and to the next one
  std::uint32_t successor_count = 0;
};

template <class P>
struct cycle {
  using node = cycle_node<P>;

  typename P::template atomic<bool> stop{false};
  typename P::template atomic<std::uint32_t> left{1};

  /// Begins a round of node `self`. Returns whether the runner must run the body. `stopped`: another
  /// thread has cancelled the graph, for good.
  [[nodiscard]] WEFT_INLINE bool begin(node &self, bool stopped) noexcept {
    if (stop.load(std::memory_order_relaxed) || stopped) [[unlikely]] {
      self.rounds.set(0);
      return false;
    }
    self.rounds.set(self.rounds.get() - 1);
    return true;
  }

  /// Ends a round of node `self`: calls ready(node) for every node that may begin a round. Returns
  /// true if the graph is over: the caller then owns the graph.
  template <class Ready>
  [[nodiscard]] WEFT_INLINE bool end(node &self, Ready &&ready) noexcept {
    const bool last = self.rounds.get() == 0;
    if (self.degree == 0 && !last) { // alone: no edge without a way back
      ready(self);
      return false;
    }
    node **next = self.successors, **const none = next + self.successor_count;
    const auto rearm = [&] {
      self.missing.store(self.degree + (last ? 1 : 0), std::memory_order_relaxed); // O1
    };
    const auto notify = [&] {
      for (; next != none; ++next)
        if (node &s = **next; take_away(s.missing, 1)) // O2
          ready(s);
    };
    unless(bug::cycle_rearmed_late, [&] { rearm(), notify(); }, [&] { notify(), rearm(); });
    return last && take_away(left, 1); // O3
  }

  /// Ends a round of node `self` as end() does, if `next` alone follows it, within the round, and
  /// follows nothing else. Returns whether the caller must run a round of `next`; `over` is what
  /// end() returns.
  [[nodiscard]] WEFT_INLINE bool end_before(node &self, node &next, bool &over) noexcept {
    const bool last = self.rounds.get() == 0;
    self.missing.store(self.degree + (last ? 1 : 0), std::memory_order_relaxed); // O1
    const bool goes = unless(bug::cycle_chain_outlives, next.rounds.get() != 0, true);
    over = last && take_away(left, 1); // O3
    return goes;
  }

  /// Ends the start: the caller has given away all nodes of the first round. Returns true if the
  /// graph is over: the caller then owns the graph.
  [[nodiscard]] bool started() noexcept { return take_away(left, 1); } // O3
};

} // namespace rt
} // namespace weft::inline v0

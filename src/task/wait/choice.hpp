// SPDX-License-Identifier: Apache-2.0
// One result behind the first of several ends (when_any, when_some): a node for each end, and a choice that is
// made once.
//
// Roles       Creator: attaches a node to each end, until the choice is made.
//             Signallers: one per end; each fires the node of its own. The one that makes the choice, or the
//             creator in its place, is the decider: it takes the other nodes back and ends the result.
// Words       fired: the ends so far. written: those of them that are winners and have written their numbers.
//             phase: k_all_attached, k_decided. left: the shares of nodes, and one of the creator.
// Invariants  I1  The first `needed` ends are the winners; each has a place of its own for its number.
//             I2  The one that writes the last number makes the choice. The creator decides if it has made it,
//                 or finds it made when it has attached all; else the one that has made it does. So exactly one
//                 decides, and every node that it takes back has been attached before.
//             I3  A node keeps the choice until it has been fired or taken back, and the creator until it is
//                 through: the holder of the last share drops it.
// Orders      O1  written, fetch_add acq_rel, with itself: the last winner sees the numbers of all.
//             O2  phase, fetch_or acq_rel, with itself: a decider that is not the creator sees which nodes the
//                 creator has attached, and the creator sees the numbers when it decides for another one.
//             O3  left, as the count of countdown.hpp: the last holder drops it behind what the others did.
// Progress    Wait-free, but for attach and detach of waiter_list.hpp. The decider visits all nodes.
// Reclamation A thread that has dropped its share does not touch the choice. The decider has one until the result has ended.
// Source      Own.
// Checked by  tests/model/choice_models.cpp
#pragma once

#include "base/mutant.hpp"
#include "task/countdown.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::uint32_t k_all_attached = 1, k_decided = 2; // of phase

/// Holds the operations for choices of one kind, which have the words and `needed`. Ops says how many ends a choice
/// has; attaches, detaches and forgets nodes by number; keeps the numbers of winners; keeps and drops the choice.
template <class Ops>
struct choice_protocol {
  using choice = typename Ops::choice;

  /// Attaches to the ends. `end` ends the result, if the caller decides.
  template <class End>
  static void begin(choice &selection, End end) noexcept {
    Ops::keep(selection);
    const std::uint32_t count = Ops::count(selection);
    selection.left.store(count + 1, std::memory_order_relaxed); // not shared yet
    std::uint32_t attached = 0, ended = 0;
    bool decided = selection.needed == 0;
    for (; attached != count && !decided; ++attached)
      if (!Ops::attach(selection, attached)) {
        ++ended;
        decided = note_end(selection, attached);
      }
    const bool by_another =
        (selection.phase.fetch_or(k_all_attached, std::memory_order_acq_rel) & k_decided) != 0; // O2
    drop_shares(selection, ended + (count - attached)); // its own one remains
    if (decided || by_another) {
      for (std::uint32_t i = attached; i != count; ++i)
        Ops::forget(selection, i);
      forget_rest(selection, attached);
      end();
    }
    drop_shares(selection, 1);
  }

  /// Notes the end whose node is fired. `end` ends the result, if the caller decides.
  template <class End>
  static void fire(choice &selection, std::uint32_t i, End end) noexcept {
    if (note_end(selection, i)) {
      // The creator that has not attached all nodes decides when it has.
      const std::uint32_t before = selection.phase.fetch_or(k_decided, std::memory_order_acq_rel); // O2
      if (unless(bug::choice_decides_early, before & k_all_attached, k_all_attached) != 0) {
        forget_rest(selection, Ops::count(selection));
        end();
      }
    }
    drop_shares(selection, 1);
  }

 private:
  /// Drops shares of `left`, and with the last one the choice.
  static void drop_shares(choice &selection, std::uint32_t n) noexcept {
    if (n != 0 && take_away(selection.left, n)) // O3
      Ops::drop(selection);
  }
  /// Takes the nodes back that have not been fired.
  static void forget_rest(choice &selection, std::uint32_t attached) noexcept {
    std::uint32_t back = 0;
    for (std::uint32_t i = 0; i != attached; ++i)
      if (Ops::detach(selection, i)) {
        ++back;
        Ops::forget(selection, i);
      }
    unless(bug::choice_share_lost, [&] { drop_shares(selection, back); });
  }
  /// Notes an end. Returns whether the choice is made by that.
  static bool note_end(choice &selection, std::uint32_t i) noexcept {
    const std::uint32_t rank = selection.fired.fetch_add(1, std::memory_order_relaxed);
    if (rank >= selection.needed)
      return false;
    Ops::win(selection, rank, i);
    const std::uint32_t before = selection.written.fetch_add(
        1, order_unless(bug::choice_written_relaxed, std::memory_order_acq_rel)); // O1
    return before + 1 == selection.needed;
  }
};

} // namespace rt
} // namespace weft::inline v0

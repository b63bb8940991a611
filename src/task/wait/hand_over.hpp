// SPDX-License-Identifier: Apache-2.0
// One waiter for several words, of which it waits for one at a time (when_all): no memory per word.
//
// Roles       Owner: the thread that may touch the waiter: at first its creator, then the signaller
//             that fires it. Ownership goes with the node of the waiter: attach gives it away.
//             Signallers: one per word; see waiter_list.hpp.
// Invariants  I1  Every word before `passed` is raised, but for the last one, to which the node is
//                 attached.
//             I2  The owner counts a word as passed before it attaches the node to the word, because
//                 another thread is the owner from then on.
// Orders      O1  is_raised, load acquire, with O3 of waiter_list.hpp: the last owner sees what was
//                 done before each word was raised.
//             A signaller that fires the node sees what the former owner wrote, by O1 and O3 of
//             waiter_list.hpp.
// Progress    As attach and raise of waiter_list.hpp.
// Reclamation The thread for which attach_to_next returns false is the last owner.
// Source      Own.
// Checked by  tests/model/claim_models.cpp: hand_over_*
#pragma once

#include "base/mutant.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

/// Attaches the waiter to the next word that is not raised. False: all are. True: another thread may
/// be the owner by now. Inputs tells of the waiter: count, passed, pass, and the end, a word, of
/// each input.
template <class List, class Inputs, class Waiter>
[[nodiscard]] bool attach_to_next(Waiter &all) noexcept {
  for (std::size_t at = Inputs::passed(all); at < Inputs::count(all);) {
    auto &end = Inputs::end_of(all, at);
    ++at;
    if (List::is_token(end.load(std::memory_order_acquire))) // O1
      continue;
    Inputs::pass(all, unless(bug::hand_over_skips, at, [](std::size_t n) { return n + 1; })); // I2
    if (List::attach(end, all))
      return true;
  }
  return false;
}

} // namespace rt
} // namespace weft::inline v0

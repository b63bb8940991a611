// SPDX-License-Identifier: Apache-2.0
// A word in which one frame waits for one signal: the end of a task or of a join's branch, or that an undeferred task may run.
//
// Roles       One waiter: is_raised, and when that fails suspends; wait_for_signal runs when its frame has been left. One signaller.
// Word        null; the waiting frame; else the token that was raised.
// Invariants  I1  Either the waiter finds the token, or the signaller finds the frame, and makes it ready.
// Orders      O1  the frame is stored, release, with O3: it is written before somebody makes it ready.
//             O2  the token is loaded, acquire, in is_raised and in a failing wait_for_signal, with O3.
//             O3  exchange, release, with O2: what was done before the signal; acquire, with O1.
// Progress    Wait-free.
// Reclamation The exchange is the signaller's last touch of the word, making the frame ready its last touch of the frame.
// Checked by  tests/model/suspension_models.cpp: signal_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Word>
[[nodiscard]] bool is_raised(const Word &word, void *token) noexcept {
  return word.load(std::memory_order_acquire) == token; // O2
}

/// False: the signal came first, `f` is to be made ready.
template <class Word, class Frame>
[[nodiscard]] bool wait_for_signal(Word &word, Frame &f) noexcept {
  void *seen = nullptr;
  return word.compare_exchange_strong(seen, &f, std::memory_order_release, std::memory_order_acquire); // O1, else O2
}

/// What stood in the word: null, or the waiting frame, which is to be made ready.
template <class Word>
[[nodiscard]] void *raise_signal(Word &word, void *token) noexcept {
  return word.exchange(token, order_unless(bug::signal_relaxed, std::memory_order_acq_rel)); // O3
}

} // namespace rt
} // namespace weft::inline v0

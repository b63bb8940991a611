// SPDX-License-Identifier: Apache-2.0
// A word in which one frame waits for one signal: the end of a task or of a join's branch, or that
// an undeferred task may run.
//
// Roles       Waiter: one; it calls is_raised, and suspends if that fails. wait_for_signal runs
//             when the waiter's frame has been left.
//             Signaller: one; it calls raise_signal.
// Word        null; the waiting frame; else the token that was raised.
// Invariants  I1  Either the waiter finds the token, or the signaller finds the frame and makes it
//                 ready.
// Orders      O1  the frame is stored, release, with O3: the frame is written before the signaller
//                 makes it ready.
//             O2  the token is loaded, acquire, in is_raised and in a failing wait_for_signal, with
//                 O3.
//             O3  exchange, release, with O2: the waiter sees what the signaller did before;
//                 acquire, with O1.
// Progress    Wait-free.
// Reclamation The exchange is the signaller's last touch of the word. To make the frame ready is
//             its last touch of the frame.
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

/// Publishes the frame. Returns false if the signal came first: then the caller makes `suspended` ready.
template <class Word, class Frame>
[[nodiscard]] bool wait_for_signal(Word &word, Frame &suspended) noexcept {
  void *seen = nullptr;
  return word.compare_exchange_strong(seen, &suspended, std::memory_order_release,
                                      std::memory_order_acquire); // O1, else O2
}

/// Raises the signal. Returns what the word was before: null, or the waiting frame, which the
/// caller makes ready.
template <class Word>
[[nodiscard]] void *raise_signal(Word &word, void *token) noexcept {
  return word.exchange(token, order_unless(bug::signal_relaxed, std::memory_order_acq_rel)); // O3
}

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Where a lightweight thread with a thread-local block of its own sleeps while it waits in Weft.
//
// To Weft such a thread is an external thread with a slot. But the kernel thread below is a
// worker's: if the thread slept in the kernel, the worker would sleep with it. So the thread parks:
// its worker goes on with other work, and a waker of the thread's own stack unparks the thread.
//
// Roles       Sleeper: the lightweight thread, on its own stack. It has left its loop, and publishes
//             itself once it has left that stack, too. Waker: any thread that has put the sleeper's
//             own frame into the slot's frame_slot; it claims.
// Word        m_parked: null, or the stack that has parked.
// Invariants  I1  A parked stack is handed out once: to one waker, or back to the sleeper that has
//                 published it. The one that gets it unparks it.
//             I2  A sleeper does not stay parked while its frame is in the slot.
//             I3  A waker may be late, and wake the sleeper in a later wait: the sleeper looks into
//                 the slot again, and parks again.
// Orders      O1  publish, exchange acq_rel, then a look into the slot.
//             O2  claim, exchange acq_rel, after the frame was put.
//                 With O1: of the two exchanges the later one sees the earlier one. So the waker gets
//                 the stack, and sees it complete; or the sleeper sees the frame in the slot.
//             O3  is_parked, load acquire, with O1: an observer that sees the thread parked sees
//                 what the thread did before.
// Progress    Wait-free.
// Reclamation A claim is the last use of the parked stack but for its unpark.
// Checked by  tests/model/apart_models.cpp: carried_*; layers/threads/tests/weft_wait_test.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Stack, class P = real_atomics>
class carried_bed {
 public:
  /// Publishes the stack that the sleeper has left. Returns false if the sleeper may go on at once,
  /// because `woken()` says so: then the caller unparks the stack.
  template <class Woken>
  [[nodiscard]] bool publish(Stack &parked, Woken woken) noexcept {
    m_parked.exchange(&parked, order_unless(bug::carried_publish_relaxed,
                                            std::memory_order_acq_rel)); // O1
    if (!unless(bug::carried_sleeps_blindly, woken()))
      return true;
    return claim() == nullptr; // I1
  }

  /// Returns the parked stack, which the caller unparks; or null.
  [[nodiscard]] Stack *claim() noexcept {
    return m_parked.exchange(nullptr, order_unless(bug::carried_claim_relaxed,
                                                   std::memory_order_acq_rel)); // O2
  }

  /// Guesses whether the sleeper is parked.
  [[nodiscard]] bool is_parked() const noexcept {
    return m_parked.load(std::memory_order_acquire) != nullptr; // O3
  }

 private:
  typename P::template atomic<Stack *> m_parked{nullptr};
};

} // namespace rt
} // namespace weft::inline v0

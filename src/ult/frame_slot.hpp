// SPDX-License-Identifier: Apache-2.0
// The slot in which a thread's own stack, suspended, waits for its thread when it may go on: no
// other thread may continue it.
//
// Roles       Waker: the thread that makes the frame ready; it calls put, then wakes the home
//             thread (eventcount::notify_worker). It may take the frame back if it knows that the
//             frame is not needed after all.
//             Home: the thread whose own stack the frame is; it calls full and take.
// Word        null or the frame. A thread has only one such frame, so the slot never holds more.
// Invariants  I1  A frame that was put is taken once. A home that sees the frame, and does not get
//                 it, goes on as if the frame had not been put.
//             I2  The home looks into the slot again after it has announced that it sleeps: with
//                 the eventcount's barriers no wake-up is lost. A home that was woken for other
//                 work and leaves for its frame notifies another worker.
// Orders      O1  put, release, with O2: the home sees what came before the wake-up.
//             O2  take, acquire, with O1.
// Progress    Wait-free.
// Reclamation put is the waker's last touch of the frame.
// Checked by  tests/model/suspension_models.cpp: own_frame_*; tests/model/spare_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Frame, class P = real_atomics>
class frame_slot {
 public:
  void put(Frame &suspended) noexcept {
    m_frame.store(&suspended,
                  order_unless(bug::own_frame_relaxed, std::memory_order_release)); // O1
  }

  /// Returns whether a frame is in the slot. Exact for the home, except for a frame that is just
  /// being put.
  [[nodiscard]] bool full() const noexcept {
    return m_frame.load(std::memory_order_relaxed) != nullptr;
  }

  [[nodiscard]] Frame *take() noexcept {
    return m_frame.exchange(nullptr, std::memory_order_acquire);
  } // O2

 private:
  typename P::template atomic<Frame *> m_frame{nullptr};
};

} // namespace rt
} // namespace weft::inline v0

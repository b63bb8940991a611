// SPDX-License-Identifier: Apache-2.0
// this_task::block() and unblock(): a task waits for one unblock from any thread, which may come
// first.
//
// Roles       Waiter: the blocking task. It calls take; if take fails, it suspends.
//             Publisher: the thread that continues after the waiter's frame has been left; it calls
//             publish. If publish fails, it makes the frame ready. With a deadline it sets the
//             clock afterwards, whether publish failed or not, and then m_armed.
//             Waker: any thread; it calls unblock.
//             Clock: with a deadline (timed_block); it calls expire at most once, any time after
//             publish. A resumed waiter waits for m_armed and cancels the clock before it goes on:
//             expire then neither runs nor will run.
// Word        null (no unblock is kept, and no frame is published); token (an unblock came first);
//             else the blocked frame. m_armed, of a timed_block: the clock is set.
// Invariants  I1  Only take and a publish that fails take the token away, both for the waiter. No
//                 other operation changes a token, so publish clears it with a store. Exactly one
//                 of unblock and expire takes a frame away, and makes the frame ready.
//             I2  At most one unblock is kept; a second one is refused and changes nothing.
//             I3  A timed_block outlives the last touch by its publisher: the waiter waits for
//                 m_armed.
// Orders      O1  publish stores the frame, release, with O3: the frame is written before the waker
//                 makes it ready.
//             O2  take and a failing publish see the token, acquire, with O4: the waiter sees what
//                 the waker wrote before the unblock.
//             O3  unblock takes the frame, acquire, with O1.
//             O4  unblock stores the token, release, with O2. O3 and O4 are one operation. If it
//                 takes a frame, the call that makes the frame ready carries what the waker wrote.
//             O5  m_armed store release, load acquire: the publisher's accesses of the timed_block
//                 come before the waiter goes on.
//             expire needs no order: the clock was set after publish, and the clock's own lock
//             orders the two.
// Progress    unblock is lock-free. The rest is wait-free, except the wait for m_armed, which lasts
//             as long as the clock is being set.
// Reclamation The word lives in the task: a waker holds a reference to the task. A frame may end as
//             soon as it has been made ready.
// Checked by  tests/model/suspension_models.cpp: block_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Frame>
struct unblocked {
  bool accepted; // false: an earlier unblock still waits for its block
  Frame *resumed; // the caller makes it ready; null: the task was not blocked yet
};

template <class Frame, class P = real_atomics>
class block_word {
 public:
  /// Consumes an unblock that came first. Returns false if there was none.
  [[nodiscard]] bool take() noexcept {
    void *seen = token();
    return m_word.compare_exchange_strong(seen, nullptr, std::memory_order_acquire,
                                          std::memory_order_relaxed); // O2
  }

  /// Publishes the frame. Returns false if an unblock came first: it is consumed, and the caller
  /// makes `suspended` ready.
  [[nodiscard]] bool publish(Frame &suspended) noexcept {
    void *seen = nullptr;
    if (m_word.compare_exchange_strong(
            seen, &suspended,
            order_unless(bug::block_frame_relaxed, std::memory_order_release), // O1
            std::memory_order_acquire)) // O2
      return true;
    m_word.store(nullptr, std::memory_order_relaxed); // I1
    return false;
  }

  unblocked<Frame> unblock() noexcept {
    void *seen = m_word.load(std::memory_order_relaxed);
    do {
      if (seen == token())
        return {false, nullptr};
    } while (!m_word.compare_exchange_weak(seen, seen ? nullptr : token(),
                                           std::memory_order_acq_rel, // O3, O4
                                           std::memory_order_relaxed));
    return {true, static_cast<Frame *>(seen)};
  }

  /// Takes the published `suspended` back. True: the caller has it now, and makes it ready.
  [[nodiscard]] bool withdraw(Frame &suspended) noexcept {
    void *seen = &suspended;
    return m_word.compare_exchange_strong(seen, nullptr, std::memory_order_relaxed,
                                          std::memory_order_relaxed);
  }

 private:
  static void *token() noexcept { return reinterpret_cast<void *>(std::uintptr_t{1}); }

  typename P::template atomic<void *> m_word{nullptr};
};

/// Holds one block with a deadline; lives on the stack of the task.
template <class Frame, class P = real_atomics>
class timed_block {
 public:
  explicit timed_block(block_word<Frame, P> &word) noexcept : m_word(word) {}

  /// Publishes the frame as block_word::publish does. The publisher sets the clock afterwards: a
  /// deadline that passed before there was a frame would wake no task.
  [[nodiscard]] bool publish(Frame &suspended) noexcept {
    m_frame.set(&suspended);
    return m_word.publish(suspended);
  }
  /// Notes that the clock is set. It is the publisher's last touch of the object.
  void armed() noexcept { m_armed.store(true, std::memory_order_release); } // O5

  /// Called by the clock, once. Returns the frame, which the clock makes ready, or null if an
  /// unblock was first. It is the clock's last touch of the object.
  [[nodiscard]] Frame *expire() noexcept {
    Frame *f = m_frame.get();
    if (unless(bug::block_expires_twice, !m_word.withdraw(*f)))
      return nullptr;
    m_timed_out.set(true);
    return f;
  }

  /// Waits until the publisher has set the clock. The resumed task calls it, because it may be
  /// resumed before that; then it cancels the clock.
  void wait_until_armed() const noexcept {
    P::await(m_armed, [](bool armed) { return armed; }, std::memory_order_acquire); // O5
  }
  /// Returns whether the deadline has passed. The task calls it after it has cancelled the clock.
  [[nodiscard]] bool timed_out() const noexcept { return m_timed_out.get(); }

 private:
  block_word<Frame, P> &m_word;
  typename P::template var<Frame *> m_frame{};
  typename P::template var<bool> m_timed_out{};
  typename P::template atomic<bool> m_armed{false};
};

} // namespace rt
} // namespace weft::inline v0

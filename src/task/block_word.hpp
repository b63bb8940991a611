// SPDX-License-Identifier: Apache-2.0
// this_task::block() and unblock(): a task waits for one call from anybody, which may come first.
//
// Roles       The task: take, and when that fails suspends; publish runs when its frame has been left. Anyone: unblock. With a
//             deadline (timed_block) also a clock: expire, any time after publish; the task ends the clock's call before it goes on.
// Word        null; token (an unblock came first); else the blocked frame.
// Invariants  I1  The token is taken away by the blocking task only; a frame by exactly one of unblock and expire, who makes it
//                 ready.
//             I2  At most one unblock is kept; a second one is refused and changes nothing.
//             I3  A timed_block outlives the last touch by its publisher: the task waits for m_armed.
// Orders      O1  publish stores the frame, release, with O3: it is written before somebody makes it ready.
//             O2  the token is seen, acquire, in take and in a failing publish, with O4: what came before the unblock.
//             O3  unblock takes the frame, acquire, with O1.
//             O4  unblock stores the token, release, with O2. A frame that is taken is passed on by what makes it ready. O3 and
//                 O4 are one operation.
//             O5  m_armed store release, load acquire: the publisher has done with the block.
//             expire needs no order: the clock was set after publish, and the clock's own lock tells.
// Progress    unblock is lock-free, the rest wait-free but for the wait for m_armed, which lasts as long as the clock is set.
// Reclamation The word lives in the task: who unblocks holds a reference. A frame ends when it was made ready.
// Checked by  tests/model/suspension_models.cpp: block_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Frame>
struct unblocked {
  bool accepted;  // false: an earlier unblock still waits for its block
  Frame *resumed; // to be made ready; null: nobody was blocked yet
};

template <class Frame, class P = real_atomics>
class block_word {
 public:
  /// True: an unblock came first; it is consumed.
  [[nodiscard]] bool take() noexcept {
    void *seen = token();
    return m_word.compare_exchange_strong(seen, nullptr, std::memory_order_acquire, std::memory_order_relaxed); // O2
  }

  /// False: an unblock came first; it is consumed, and `f` is to be made ready.
  [[nodiscard]] bool publish(Frame &f) noexcept {
    void *seen = nullptr;
    if (m_word.compare_exchange_strong(seen, &f, order_unless(bug::block_frame_relaxed, std::memory_order_release), // O1
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
    } while (!m_word.compare_exchange_weak(seen, seen ? nullptr : token(), std::memory_order_acq_rel, // O3, O4
                                           std::memory_order_relaxed));
    return {true, static_cast<Frame *>(seen)};
  }

  /// True: the published `f` is the caller's now, to be made ready.
  [[nodiscard]] bool withdraw(Frame &f) noexcept {
    void *seen = &f;
    return m_word.compare_exchange_strong(seen, nullptr, std::memory_order_relaxed, std::memory_order_relaxed);
  }

 private:
  static void *token() noexcept { return reinterpret_cast<void *>(std::uintptr_t{1}); }

  typename P::template atomic<void *> m_word{nullptr};
};

/// One block with a deadline; lives on the stack of the task.
template <class Frame, class P = real_atomics>
class timed_block {
 public:
  explicit timed_block(block_word<Frame, P> &word) noexcept : m_word(word) {}

  /// As block_word::publish. Then the clock is set: a deadline that passed before there was a frame would wake nobody.
  [[nodiscard]] bool publish(Frame &f) noexcept {
    m_frame.set(&f);
    return m_word.publish(f);
  }
  /// The clock is set: the publisher's last touch.
  void armed() noexcept { m_armed.store(true, std::memory_order_release); } // O5

  /// The clock, once. A frame is to be made ready, which is the last touch.
  [[nodiscard]] Frame *expire() noexcept {
    Frame *f = m_frame.get();
    if (!m_word.withdraw(*f) && !mutant(bug::block_expires_twice))
      return nullptr;
    m_timed_out.set(true);
    return f;
  }

  /// The task, resumed: it may have been so before its publisher had done. Then it cancels the clock.
  void wait_until_armed() const noexcept {
    P::await(m_armed, [](bool armed) { return armed; }, std::memory_order_acquire); // O5
  }
  /// The task, when the clock is cancelled.
  [[nodiscard]] bool timed_out() const noexcept { return m_timed_out.get(); }

 private:
  block_word<Frame, P> &m_word;
  typename P::template var<Frame *> m_frame{};
  typename P::template var<bool> m_timed_out{};
  typename P::template atomic<bool> m_armed{false};
};

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// How a worker's thread sleeps with a frame that waits (wait.policy = sleep), so that the frame goes
// on at this thread. A spare works in its place. Where that cannot be, or where the thread's own
// stack may go on, the thread leaves the frame to the scheduler, as one of any other wait.
//
// Roles       Sleeper: the worker that has left the frame, on the next stack. Waker: the thread that
//             makes the frame ready; there is one for each frame. Rouser: any thread that needs the
//             sleeper, or has no spare for it. Observer.
// Words       m_frame: null; the frame; or k_left, which a rouser has put in the frame's place.
//             m_bell: rises with each change by others; the sleeper sleeps on it.
// Invariants  I1  A frame is continued once: by the sleeper, if the waker takes it out of m_frame;
//                 by the scheduler, to which the waker gives it, if a rouser does.
//             I2  A waker compares with its own frame. So one that is late for a frame that was
//                 left meanwhile does not end the sleep for a later frame.
//             I3  A sleeper does not stay asleep when there is a reason to leave: a rouser sets the
//                 reason, then looks into m_frame; the sleeper fills m_frame, then looks for
//                 reasons.
// Orders      O1  begin, heavy barrier, with the rouser's light barrier (eventcount::notify_worker
//                 and its like): of the two looks of I3 one sees the other side's store.
//             O2  raise, compare-exchange release, with the sleeper's load, acquire: the frame goes
//                 on after all that it waits for.
//             O3  m_bell, release by the ringer after its change of m_frame; acquire by the sleeper
//                 before its look there: it sees the change, or the bell has another value, and it
//                 does not sleep.
//             O4  is_asleep, acquire, with begin's release: an observer that sees the thread asleep
//                 sees what the thread did before.
// Progress    All but sleep() wait-free, except for the system call of a ring.
// Reclamation The word is a worker's, and never freed. The waker does not touch the frame after
//             raise() has returned true.
// Checked by  tests/model/nap_models.cpp: nap_*; tests/unit/worker/wait_policy_test.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;
/// Has all threads that sleep with a frame leave it to the scheduler.
void end_naps(runtime &rt) noexcept;

/// Says why a sleep is over.
enum class nap_end {
  raised, // the frame may go on, here
  left, // the frame is the scheduler's
  late, // the deadline is over; the sleeper may sleep on
};

template <class Frame, class P = real_atomics>
class nap_word {
 public:
  // ---- by the sleeper

  /// Announces the sleep, before the frame is published. The sleeper looks for reasons to leave
  /// after this.
  void begin(Frame &left) noexcept {
    m_frame.store(&left, std::memory_order_release); // O4
    unless(bug::nap_no_heavy_barrier, [&] { P::heavy_barrier(); }); // O1
  }
  /// Sleeps until the frame may go on or is left, or until `deadline_ns` on the monotonic clock; 0
  /// means no deadline. The frame may be gone, unless the answer is `raised`.
  [[nodiscard]] nap_end sleep(const Frame *of, std::int64_t deadline_ns) noexcept {
    for (;;) {
      const std::uint32_t heard = m_bell.load(std::memory_order_acquire); // O3
      const Frame *const now =
          m_frame.load(order_unless(bug::nap_sees_stale_data, std::memory_order_acquire)); // O2
      if (now == nullptr)
        return nap_end::raised;
      if (now != of) {
        m_frame.store(nullptr, std::memory_order_relaxed); // no thread has a use for k_left
        return nap_end::left;
      }
      if (!P::futex_wait(m_bell, heard, deadline_ns))
        return nap_end::late;
    }
  }

  // ---- by others

  /// Hands the frame to its sleeper. Returns false if it was left: then the caller makes it ready as
  /// any other frame.
  [[nodiscard]] bool raise(Frame &waiting) noexcept {
    Frame *was = unless(bug::nap_raises_any_frame, &waiting,
                        [&] { return m_frame.load(std::memory_order_relaxed); }); // I2
    if (!m_frame.compare_exchange_strong(was, nullptr, std::memory_order_release,
                                         std::memory_order_relaxed)) // O2
      return false;
    unless(bug::nap_raised_silently, [&] { ring(); });
    return true;
  }
  /// Has the sleeper leave its frame to the scheduler. Returns whether it slept.
  bool leave() noexcept {
    Frame *was = m_frame.load(std::memory_order_relaxed);
    if (was == nullptr || was == k_left() ||
        !m_frame.compare_exchange_strong(was, k_left(), std::memory_order_relaxed,
                                         std::memory_order_relaxed)) // the frame is not touched
      return false;
    unless(bug::nap_left_silently, [&] { ring(); });
    return true;
  }
  /// Guesses whether the thread sleeps with a frame.
  [[nodiscard]] bool is_asleep() const noexcept {
    const Frame *const now = m_frame.load(std::memory_order_acquire); // O4
    return now != nullptr && now != k_left();
  }

 private:
  [[nodiscard]] static Frame *k_left() noexcept { return reinterpret_cast<Frame *>(1); }
  void ring() noexcept {
    m_bell.fetch_add(1, std::memory_order_release); // O3
    P::futex_wake(m_bell, 1);
  }

  typename P::template atomic<Frame *> m_frame{nullptr};
  typename P::template atomic<std::uint32_t> m_bell{0};
};

} // namespace rt
} // namespace weft::inline v0

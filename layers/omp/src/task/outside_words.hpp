// SPDX-License-Identifier: Apache-2.0
// What a task waits for that is no task: an unblock that lets it go on, and events that keep it
// from being complete.
//
// Roles       Runner: the thread that runs the task: begin_block, is_blocked; increase, end_body.
//             Waker: any thread that unblocks the task: unblock. Ender: any thread that ends an
//             event: decrease, fulfil. Fulfiller: the ender of the event of a detach clause: fulfil.
// Word        block_state: null, the token (an unblock came first), or the thread that sleeps in
//             the task.
//             hold_state: the number of events, plus k_body_over once the body is over, plus
//             k_fulfilled. k_over is both of these and no event. When k_fulfilled is set:
//             - an explicit task with a detach clause: once the event of that clause is fulfilled;
//             - an explicit task without the clause: from its first event on. Without an event the
//               task does not use this word;
//             - an implicit task: never. It only counts its events here; while it has some, its
//               team counts one more task.
//             A task with a detach clause whose body never begins, because its group is cancelled,
//             has k_discarded in place of k_body_over. It has no events but that of the clause, and
//             it is over whether or not that one is fulfilled. k_left is set once the layer has no
//             more use for its record.
// Invariants  I1  Only the runner takes the token away. The waker that takes the thread out of the
//                 word wakes it: once per block.
//             I2  At most one unblock is kept; a second one changes nothing.
//             I3  hold_state of an explicit task becomes k_over by one operation only: the last of
//                 end_body, fulfil and the decreases. The thread that does this operation ends the
//                 task. Events are added only while the body runs, so none comes after it.
//             I4  A decrease by more than the number of events changes nothing.
//             I5  The runner ends a discarded task, and the fulfiller does not. The record of such a
//                 task is freed by the later of leave and fulfil: a program may fulfil the event
//                 when the task is over. If the event is never fulfilled, the record stays.
// Orders      O1  begin_block release, with O2: the waker wakes a thread that sleeps, or that will
//                 look at the word.
//             O2  unblock compare_exchange acq_rel: with O1 and O3.
//             O3  load of is_blocked, and compare_exchange of begin_block that finds the token,
//                 acquire: the runner sees what came before the unblock.
//             O4  end_body, fulfil, decrease acq_rel: the thread that ends the task sees what the
//                 runner and all enders did.
//             increase is relaxed: an ender learns of the event by other means.
//             O5  load acquire in `any`, with O4: a runner that finds no event sees what was done
//                 before the events were decreased.
//             O6  leave acq_rel, with that of fulfil: the thread that frees the record of a
//                 discarded task comes after all other uses of it. discard is relaxed: with it the
//                 runner publishes nothing.
// Progress    Wait-free, but for the loops of unblock and decrease, which are lock-free.
// Reclamation The words live in the task. A task that still waits for an unblock or a decrease is
//             not complete, so a waker or an ender finds the words; so does the fulfiller of a
//             discarded task (I5). A thread's own data are never freed.
// Checked by  tests/model/layers/omp_outside_models.cpp: omp_outside_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class Thread, class P = real_atomics>
class basic_block_state {
 public:
  /// Begins a block. True: the runner sleeps while is_blocked(). False: an unblock came first; the
  /// runner has consumed it.
  [[nodiscard]] bool begin_block(Thread &runner) noexcept {
    Thread *seen = nullptr;
    if (m_word.compare_exchange_strong(seen, &runner, std::memory_order_release,
                                       std::memory_order_acquire)) // O1, O3
      return true;
    m_word.store(nullptr, std::memory_order_relaxed); // I1
    return false;
  }
  [[nodiscard]] bool is_blocked(const Thread &runner) const noexcept {
    return m_word.load(std::memory_order_acquire) == &runner;
  } // O3

  struct unblocked {
    bool accepted; // false: an earlier unblock still waits for its block
    Thread *
        sleeps; // the thread to wake, which may be awake by then; null: the task was not blocked yet
  };
  /// Unblocks the task. This is the caller's last access to the task if it was blocked.
  unblocked unblock() noexcept {
    Thread *seen = m_word.load(std::memory_order_relaxed);
    do {
      if (seen == token())
        return {false, nullptr};
    } while (!m_word.compare_exchange_weak(
        seen, seen ? nullptr : token(),
        order_unless(bug::omp_outside_unblock_relaxed, std::memory_order_acq_rel), // O2
        std::memory_order_relaxed));
    return {true, seen};
  }

 private:
  static Thread *token() noexcept { return reinterpret_cast<Thread *>(std::uintptr_t{1}); }
  typename P::template atomic<Thread *> m_word{nullptr};
};

/// Says whether a task has had an event, or has a detach clause, before it gets an event.
enum class events_before : bool { none, some };

template <class P = real_atomics>
class basic_hold_state {
 public:
  static constexpr std::uint64_t k_most = (std::uint64_t{1} << 40) - 1; // events

  enum class decreased { some_left, none_left, task_is_over, underflow };

  /// Adds `n` events. Returns whether the number of events was 0.
  bool increase(std::uint64_t n, events_before before) noexcept {
    return (m_word.fetch_add(n + (before == events_before::none ? k_fulfilled : 0),
                             std::memory_order_relaxed) &
            k_most) == 0; // relaxed: an ender has learnt of the event by other means
  }
  /// Notes that the body is over. True: the caller ends the task.
  [[nodiscard]] bool end_body() noexcept {
    return (m_word.fetch_or(k_body_over, std::memory_order_acq_rel) | k_body_over) == k_over;
  } // O4

  enum class fulfilled { nothing_else, task_is_over, record_is_left };
  /// Fulfils the event of a detach clause. `task_is_over`: the caller ends the task.
  /// `record_is_left`: the caller frees the record of the task, which is over.
  [[nodiscard]] fulfilled fulfil() noexcept {
    const std::uint64_t before = m_word.fetch_or(k_fulfilled, std::memory_order_acq_rel); // O4, O6
    if (before == k_body_over)
      return fulfilled::task_is_over;
    return before & k_left ? fulfilled::record_is_left : fulfilled::nothing_else;
  }

  /// Notes that the body never begins. Called by the runner, which ends the task.
  void discard() noexcept { m_word.fetch_or(k_discarded, std::memory_order_relaxed); }
  /// Returns whether discard() was called. Called by the runner.
  [[nodiscard]] bool is_discarded() const noexcept {
    return (m_word.load(std::memory_order_relaxed) & k_discarded) != 0;
  }
  /// Gives the record of a discarded task up, which is over. True: the caller frees it, because the
  /// event has been fulfilled.
  [[nodiscard]] bool leave() noexcept {
    return (m_word.fetch_or(k_left, order_unless(bug::omp_outside_left_relaxed,
                                                 std::memory_order_acq_rel)) &
            k_fulfilled) != 0;
  } // O6

  /// Takes `n` events away, at least one. `task_is_over`: the caller ends the task.
  [[nodiscard]] decreased decrease(std::uint64_t n) noexcept {
    std::uint64_t now = m_word.load(std::memory_order_relaxed);
    do {
      if ((now & k_most) < n)
        return decreased::underflow;
    } while (!m_word.compare_exchange_weak(now, now - n, std::memory_order_acq_rel,
                                           std::memory_order_relaxed)); // O4
    if (now - n == k_over)
      return unless(bug::omp_outside_last_missed, decreased::task_is_over, decreased::some_left);
    return ((now - n) & k_most) == 0 ? decreased::none_left : decreased::some_left;
  }
  /// Returns whether there are events. Called by the runner.
  [[nodiscard]] bool any() const noexcept {
    return (m_word.load(std::memory_order_acquire) & k_most) != 0;
  } // O5

 private:
  static constexpr std::uint64_t k_body_over = std::uint64_t{1} << 62,
                                 k_fulfilled = std::uint64_t{1} << 61,
                                 k_discarded = std::uint64_t{1} << 60,
                                 k_left = std::uint64_t{1} << 59,
                                 k_over = k_body_over | k_fulfilled;
  typename P::template atomic<std::uint64_t> m_word{0};
};

} // namespace weft_omp

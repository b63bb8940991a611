// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that wait for a word of memory to change, by its address: what a futex is to
// threads of the kernel.
//
// Roles       A waiter: a lightweight thread, in wait(). A waker: any thread, in wake(). The child
//             of a fork(): forget_in_child().
// Word        The word itself is the program's. A bucket's list of waiters, under its lock.
//             waiter::state: waits, woken, released. waiter::woken_in_time: an event, which a waiter
//             with a limit waits for instead.
// Invariants  I1  A waiter is in the list from its look at the word until a waker takes it out, or the
//                 waiter itself when its time is over: under the lock, so one of the two does.
//             I2  A waker does not touch a waiter after `released`, and one with a limit after it has
//                 set the event. A waiter that a waker has taken waits for that.
// Orders      The lock orders the waiter's look at the word and the waker's look at the list: if the
//             waiter reads the value from before, the waker, which stored the new one before it took
//             the lock, finds the waiter.
//             O1  state = woken, release; load acquire: what the waker did before is visible.
//             O2  state = released, release; load acquire: the waker is done with the waiter's
//                 stack, and with its thread's record.
// Progress    Blocking: the lock is held for a few instructions and a walk over a bucket.
// Reclamation A waiter is on its thread's stack. An event may be destroyed when it is seen set. The
//             waiters of a child's parent are not there in the child, and a lock of a bucket may be
//             that of a thread which is not there: the child begins with empty buckets.
// Source      Own; the lists of the kernel's futex.
// Checked by  layers/rayon/tests/wait_table_test.cpp, bindings/rust/weft-rayon/tests/pool.rs
#pragma once

#include <cstdint>

namespace weft_rayon {

enum class outcome {
  woken,
  another_value, ///< the word's value is not the expected one
  time_is_over,
  not_waited, ///< no stack is left to go on with, or Weft has ended: the caller waits in the kernel
};

/// Waits until wake() is called for `word`, unless its value is not `expected`. The caller is a
/// lightweight thread; its worker runs other work meanwhile.
outcome wait(const std::uint32_t *word, std::uint32_t expected) noexcept;
/// Does that for `ns` nanoseconds at most.
outcome wait_for(const std::uint32_t *word, std::uint32_t expected, std::int64_t ns) noexcept;

/// Forgets all waiters, in the child of a fork(): they are the parent's.
void forget_in_child() noexcept;

/// Wakes at most `most` lightweight threads that wait for `word`; returns how many.
long wake(const std::uint32_t *word, long most) noexcept;

} // namespace weft_rayon

// SPDX-License-Identifier: Apache-2.0
// What a program asks of a lightweight thread as if it were a kernel thread: cpus, scheduling, signals
// (posix.cpp).
#pragma once

#include "weft_threads/thread/thread_record.hpp"

#include <vector>

namespace weft_threads {

/// Gives the kernel thread the scheduling and the signal mask of `me`, which has come to it, and
/// delivers the signals that other threads have sent to `me`.
/// Called with the kernel thread's block. `me` may be on another kernel thread afterwards.
[[gnu::noinline]] void follow_requests(thread_record &me) noexcept;
/// Delivers the signals that other threads have sent to `me`. Called in a signal handler of a
/// program's thread, outside of Weft.
void take_signals(thread_record &me) noexcept;
/// Gives a thread that `creator` makes the requests with which it begins. Null: the creator has no
/// record.
void inherit_requests(thread_record &thread, const thread_record *creator) noexcept;
/// Tells Weft the masks of lightweight threads from now on.
void know_masks() noexcept;
/// Leaves the signal mask to the kernel in the child of a fork() by `me`, which is lightweight and the
/// only thread there. The kernel thread has the mask of `me`.
void leave_mask_to_kernel(thread_record &me) noexcept;
/// Notes the cpus that a thread of the program has before it has a record.
WEFT_THREADS_API void note_usual_cpus(thread_record &thread);
/// Returns the cpus on which the thread must run; null: any.
[[nodiscard]] inline const std::vector<int> *cpus_of(const thread_record &thread) noexcept {
  if (const std::vector<int> *const cpus = thread.asks.cpus)
    return cpus;
  if (thread.place && *thread.place)
    return *thread.place;
  return thread.asks.usual_cpus;
}
/// Returns the interned list of these cpus. It is never freed, because a kernel thread remembers
/// the list that it follows.
[[nodiscard]] WEFT_THREADS_API const std::vector<int> *interned(const std::vector<int> &cpus);
/// Says which cpus threads have that ask for none. Without it: those of the process when the first
/// of them needs to know.
WEFT_THREADS_API void use_cpus(const std::vector<int> &(*all)()) noexcept;

/// Reads these cpus, before any thread is bound.
void note_process_cpus();

} // namespace weft_threads

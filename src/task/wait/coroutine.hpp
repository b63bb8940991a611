// SPDX-License-Identifier: Apache-2.0
// A task whose body is a coroutine, which awaits others: the body ends where the coroutine has to
// wait, and runs again to go on. Between two runs the task is in no queue and has no stack; all
// else of it stays: closure, accesses, group, children.
//
// Roles       Body: coro_run() resumes the coroutine `at`. A coroutine that awaits another one puts
//             that one there, and may resume it; one that ends puts its caller there. One that has to
//             wait sets `leave`.
//             Leaver: the thread that ends the body, when it does not touch the task any more; it
//             calls `leave`, which attaches a node, enters a signal, or the like.
//             Granter: any thread that ends the wait; it enqueues `goes_on`, the task.
// Words       None of its own. Where the grant may come before the leaver's call, the two meet in a
//             signal word (signal_word.hpp); else the node is attached by the leaver's call.
// Invariants  I1  The task is in a queue, or runs, or waits; never two of these. For `leave` is called
//                 after the body has ended, and only it makes the task known to a granter that may
//                 enqueue it.
//             I2  Only the body touches coro_root, but for `leave`, which the leaver reads before its
//                 call. So each run is ordered after the last one by what ends the wait.
//             I3  A coroutine is resumed by coro_run(), or by the await of its caller if fewer than
//                 k_coroutines_on_stack are on the stack; never by a callback. So the stack holds few
//                 coroutines, however long the chain of awaits is. An await that finds its caller
//                 in `at` again goes on there; else all leave the stack, and coro_run() goes on.
//             I4  A body that has begun runs to its end: a cancelled group, or a request to stop,
//                 skips no run but the first.
// Progress    That of the words.
// Reclamation coro_root is in the block of the task. `leave` is its last use before the next run.
// Source      Own. Trampolines: Friedman, Haynes and Wand 1984; the order of leave and publish is
//             that of suspend() for stacks.
// Checked by  tests/model/coroutine_models.cpp
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

using detail::coro_root;

inline constexpr unsigned k_may_be_stopped = 0x80; // of coro_root::why

/// Notes for reports what the coroutine waits for, and whether a stop request may end the wait.
inline void note_reason(coro_root &root, wait_reason why) noexcept {
  root.why = static_cast<std::uint8_t>(static_cast<unsigned>(why.what) |
                                       (why.may_be_stopped ? k_may_be_stopped : 0u));
  root.awaited = why.target;
}
/// Returns what was noted.
[[nodiscard]] inline wait_reason noted_reason(const coro_root &root) noexcept {
  return {static_cast<waits_for>(root.why & ~k_may_be_stopped), root.awaited,
          (root.why & k_may_be_stopped) != 0};
}

/// Returns whether the task has begun and is a coroutine that has waited.
[[nodiscard]] inline bool is_coroutine_begun(const task &self) noexcept {
  const task_extra *const extra = peek_extra(self);
  return unless(bug::coroutine_is_skipped, extra && extra->coroutine, false);
}

} // namespace rt
} // namespace weft::inline v0

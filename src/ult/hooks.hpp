// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "ult/thread_context.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

// Supplied by worker/.

/// Returns something for the thread to go on with, without waiting; or null.
runnable *pick(thread_context &e);
[[noreturn]] void worker_loop();
/// Enqueues a frame without home that is ready, or returns what pick() gave. `here` null: the
/// caller is no worker.
void enqueue_resumed(thread_context *here, runnable &item);
/// Wakes the home thread, whose own_frame has been set.
void wake(thread_context &home);
/// Makes a frame ready for which the home thread sleeps, or has slept (worker/nap.hpp).
void end_nap(thread_context &home, frame &suspended);
/// Waits on the thread's own stack until its frame is ready, if the thread has left its loop for that
/// (carried_bed.hpp).
void wait_on_own_stack(thread_context &e, frame &suspended) noexcept;

// Supplied by task/.

/// Makes the task object that represents a thread of make_light_thread().
task *make_light_root();
void free_light_root(task *root) noexcept;
/// Returns what a trace has as the object of a wait: the number of a task, 0 if it has none; else the
/// address.
std::uint64_t traced_object(const wait_reason &why) noexcept;

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "task/groups/group.hpp"
#include "task/task.hpp"
#include "task/wait/lineage.hpp"

#include <weft/service.hpp>

#include <exception>

namespace weft::inline v0 {
namespace rt {

// Supplied by worker/.

/// Gives ready work to the scheduler. Any thread.
void enqueue_ready(runnable &ready);
/// Runs the newest own tasks and their immediate successors for a frame that waits until `word` is
/// done(owned), as long as these tasks belong to the lineage that the frame waits for. Returns
/// false if there was none.
bool help(const lineage &waited_for, const completion_word<> &word, const std::uint32_t &owned);
/// Runs a task that is ready, and that the caller waits for, on the caller's stack, if the task may
/// run there and no thread has begun it.
void run_awaited(task &awaited);
/// Waits for a task that is ready, in place if it may, through a handle that no other thread uses: if there is no
/// other one, the run needs no atomic operation. Returns whether the task may have failed.
[[nodiscard]] bool wait_as_holder(thread_context &here, task &awaited);
/// Runs one ready item on top of a waiting frame whose worker has no stack to go on with, or
/// yields.
void get_by();
/// Prepares a suspension whose thread sleeps with the frame (wait.policy): the caller suspends at once,
/// with a left_function that calls nap(). Returns false if the thread is needed, because no spare could
/// work in its place, or is the program's: then nothing is prepared.
[[nodiscard]] bool prepare_nap() noexcept;
/// Calls `publish(left, context)`, which may make the frame ready, and sleeps until that has been done,
/// or until the thread is needed. In the first case the thread goes on with the frame; in the second
/// the frame is suspended as any other.
void nap(thread_context &here, frame &left, void (*publish)(frame &left, void *context),
         void *context);
/// Waits as long as an observer reads all tasks. A worker calls it before it begins a body, between
/// arm_safepoint() and disarm_safepoint().
void stop_at_safepoint() noexcept;
/// Returns whether the task is the parent of functions.
[[nodiscard]] bool is_root_of_functions(const task &t) noexcept;

// Supplied by api/cpp.

/// Returns what the coroutine waits for that is about to leave its worker.
[[nodiscard]] wait_reason reason_of_leaving(const detail::coro_root &root) noexcept;

// Supplied by services/.

/// Runs the services of the poll point.
void poll_services_now(poll_point where) noexcept;

// Supplied by iter/.

/// Returns whether the task was recorded as one that has the object for itself.
[[nodiscard]] bool recorded_as_writer(const task &t, const void *address) noexcept;

/// Returns whether the task is final or descends from a final task.
[[nodiscard]] bool is_final(const task &t) noexcept;

/// Ends the taskiter of a task whose body, or whose child, has thrown: the taskiter fails. Any
/// thread.
void recorded_failed(task &t, std::exception_ptr error) noexcept;
/// Goes on after the body and the events of the task are over.
void recorded_is_over(task &t) noexcept;
/// Goes on after all descendants of the task are complete as well.
void recorded_is_complete(task &t) noexcept;

// Supplied by api/cpp/.

/// Gives a record to the scheduler, from any thread. Returns false, and has done nothing, if Weft has not started or
/// is over.
[[nodiscard]] bool post_while_started(detail::call_record &call) noexcept;
/// Keeps an exception as the group's policy demands. Any thread.
void group_failed(group_state &group, const task &t, std::exception_ptr error) noexcept;
/// Reports the exceptions that a group keeps and no caller has asked for, and forgets them. Returns
/// whether there are any.
bool report_kept(group_state &group) noexcept;

} // namespace rt
} // namespace weft::inline v0

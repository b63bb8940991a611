// SPDX-License-Identifier: Apache-2.0
// Unstable: what layers over Weft need of a task and users do not. Changes with any version.
#pragma once

#include <weft/block.hpp>
#include <weft/detail/core.hpp>
#include <weft/task_local.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

namespace weft::inline v0 {
namespace layer {

/// Returns the task that runs. The reference is empty on a thread (the first one, too), in a
/// service or an onready function, and in a branch of join() that another worker runs. Never starts
/// the runtime.
[[nodiscard]] WEFT_API task_ref running_task() noexcept;

/// Returns what reports call a task, which is alive: its label, or "task". Errors. std::bad_alloc.
[[nodiscard]] WEFT_API std::string name_of(task_ref task);

/// Says what the caller is to Weft. who_calls() never starts the runtime.
enum class caller : std::uint8_t {
  unadopted, ///< a thread that has not used Weft, or no longer may
  thread, ///< a thread of the program in its own code
  task, ///< see running_task()
  between ///< a service, an onready function, a branch of join() that another worker runs
};
[[nodiscard]] WEFT_API caller who_calls() noexcept;

/// Finds the value that the running task has of a task_local, by its key (detail::local_key()), and
/// makes none: `value` is null where the task has none. A branch of join() is in the task that has
/// called join(). Returns false, and leaves `value`, outside of tasks: on a thread, in a service, in
/// an onready function.
[[nodiscard]] WEFT_API bool find_task_value(std::uint64_t key, void *&value) noexcept;

/// @{ Values of a part of a task, by their keys (detail::local_key()): of its body, or of a branch of
/// join() that another worker runs. What runs in place is in the part around it. A value is destroyed
/// when its part is over. A branch that a thread has called join() for is a part, too.

/// Finds a value of the caller's part, or of the part that is `outwards` joins around it, and makes
/// none: `value` is null where that part has none. Returns false, and leaves `value`, where there is
/// no such part: on a thread, in a service, in an onready function.
[[nodiscard]] WEFT_API bool find_part_value(std::uint64_t key, void *&value,
                                            std::size_t outwards = 0) noexcept;
/// Makes the value of the caller's part, which has none of the key. Errors. out_of_resources.
WEFT_API void *make_part_value(std::uint64_t key, const detail::local_ops &ops);
/// @}

/// Returns whether the running task has external events. "No" is exact, "yes" may have just become
/// wrong. False outside of tasks.
[[nodiscard]] WEFT_API bool has_events() noexcept;

/// Says when the body of a task runs again.
enum class again : std::uint8_t {
  when_unblocked, ///< unblock() was called, perhaps already
  at_once, ///< as soon as a worker takes it, behind work that is ready
  yielding, ///< as after a taskyield()
  after, ///< a time has passed
  without_events, ///< it has no external events left
};

/// Makes the running body run again when it has returned, in place of the task's end. No stack is
/// kept meanwhile. The task keeps its accesses, its children and its task-local values. The last
/// call of a run counts; a body that throws ends its task. `ns` is for `after`.
///
/// Errors. not_a_task outside of tasks; not_supported for a task that its creator runs in place
/// (if_(false), a child of a final task) and for one that returns a value; out_of_resources.
WEFT_API void run_again(again when, std::uint64_t ns = 0);

/// Makes `error` the failure of a task, as if its body had thrown the exception, although the body
/// may have ended: the task still has an external event, of the caller. The first failure of a task
/// that has a handle counts, and a later one is reported on standard error.
///
/// Threads. Any.
WEFT_API void fail_task(task_ref task, std::exception_ptr error) noexcept;

/// Returns whether Weft was shut down, or the process is the child of a fork() in a task; then no call
/// can spawn any more.
[[nodiscard]] WEFT_API bool is_over() noexcept;

} // namespace layer
} // namespace weft::inline v0

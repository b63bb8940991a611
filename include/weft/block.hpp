// SPDX-License-Identifier: Apache-2.0
// Suspending a task until another thread unblocks it, and holding a task's completion for external
// events.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/detail/nanoseconds.hpp>

namespace weft::inline v0 {

/// Names the running task to the threads that will unblock it or decrease its events. It is a
/// copyable reference, valid until the task is complete. An event that is not yet decreased, or a
/// block that is not yet undone, keeps the task incomplete.
class task_ref {
 public:
  constexpr task_ref() noexcept = default;
  [[nodiscard]] explicit operator bool() const noexcept {
    return m_task != nullptr;
  } ///< whether it names a task
  friend bool operator==(task_ref,
                         task_ref) noexcept = default; ///< whether both name the same task
  explicit constexpr task_ref(detail::task *t) noexcept : m_task(t) {} ///< for the library
  [[nodiscard]] detail::task *get() const noexcept {
    return m_task;
  } ///< for the library; equal for equal references

 private:
  detail::task *m_task = nullptr;
};

/// Lets a blocked task go on. The task sees what the caller wrote before. One unblock may come
/// before its block, which then returns at once.
///
/// Threads. Any, worker or not.
/// Blocks. Never.
/// Errors. no_block for a second unblock before the block; invalid_argument for an empty reference.
WEFT_API void unblock(task_ref task);

namespace this_task {

/// Returns the running task; a thread of the user counts as one. In an onready function it returns
/// the task that the function belongs to.
[[nodiscard]] WEFT_API task_ref self();
/// Suspends the running task until another thread calls unblock() for it.
///
/// Cost. One suspension, and a stack until then.
/// Threads. Any.
/// Blocks. Yes: the worker goes on with other work.
/// Errors. no_block in a service or an onready function; out_of_resources when no stack is left to
/// go on with; shut_down.
WEFT_API void block();
/// Suspends as block(), for at most `ns` nanoseconds; 0 or less does not wait. Returns true when
/// the task was unblocked, false when the time was over. An unblock that comes later is kept for
/// the next block.
[[nodiscard]] WEFT_API bool block_for_ns(std::int64_t ns);
/// Suspends as block(), for any duration. One that does not fit 64 bits of nanoseconds has no end.
template <class Rep, class Period>
[[nodiscard]] bool block_for(std::chrono::duration<Rep, Period> most) {
  return block_for_ns(detail::whole_nanoseconds(most));
}

/// Adds `count` external events to the running task. The task's accesses are released, and the task is
/// complete, only when its body has ended and every event has been decreased. No stack is kept
/// meanwhile.
///
/// Errors. not_a_task on a thread, which has no end that events could hold.
WEFT_API void increase_events(std::uint32_t count = 1);

} // namespace this_task

/// Takes back `count` events of a task. If the body has ended, the caller that takes back the last
/// event completes the task.
///
/// Threads. Any, worker or not.
/// Blocks. Never.
/// Errors. event_underflow when the task has fewer events, and then none is taken; invalid_argument
/// for an empty reference.
WEFT_API void decrease_events(task_ref task, std::uint32_t count = 1);

} // namespace weft::inline v0

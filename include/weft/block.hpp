// SPDX-License-Identifier: Apache-2.0
// Suspending a task until somebody else says go on, and holding a task's completion for external events.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/detail/nanoseconds.hpp>

namespace weft::inline v0 {

/// Names the running task to those who will unblock it or decrease its events. A copyable reference, valid until
/// the task is complete (an event that is not yet decreased, or a block that is not yet undone, keeps it incomplete).
class task_ref {
 public:
  constexpr task_ref() noexcept = default;
  [[nodiscard]] explicit operator bool() const noexcept { return m_task != nullptr; } ///< whether it names a task
  friend bool operator==(task_ref, task_ref) noexcept = default; ///< whether both name the same task
  explicit constexpr task_ref(detail::task *t) noexcept : m_task(t) {} ///< for the library
  [[nodiscard]] detail::task *get() const noexcept { return m_task; } ///< for the library; equal for equal references

 private:
  detail::task *m_task = nullptr;
};

/// Lets a blocked task go on. Any thread, worker or not; what it wrote before is seen by the task. Never blocks. One unblock may come
/// before its block, which then returns at once; a second one before the block throws weft::error (errc::no_block), an
/// empty reference errc::invalid_argument.
WEFT_API void unblock(task_ref t);

namespace this_task {

/// The running task; a thread of the user counts as one. In an onready function: the task that it belongs to.
[[nodiscard]] WEFT_API task_ref self();
/// Suspends the running task until unblock(self()) is called; the worker goes on with other work. Cost: one suspension, and a stack
/// until then. Any thread. Throws weft::error: no_block in a service or an onready function, out_of_resources when no stack is left
/// to go on with, shut_down.
WEFT_API void block();
/// As block(), for at most `ns` nanoseconds; true when it was unblocked, false when the time was over
/// (an unblock that comes later is kept for the next block). 0 or less does not wait.
[[nodiscard]] WEFT_API bool block_for_ns(std::int64_t ns);
/// The same for any duration; one that does not fit 64 bits of nanoseconds has no end.
template <class Rep, class Period>
[[nodiscard]] bool block_for(std::chrono::duration<Rep, Period> d) {
  return block_for_ns(detail::whole_nanoseconds(d));
}

/// Adds `n` external events to the running task: its accesses are released, and it is complete, only when its body has
/// ended and every event has been decreased. No stack is kept meanwhile. Throws weft::error (errc::not_a_task) on a thread, which has
/// no end that events could hold.
WEFT_API void increase_events(std::uint32_t n = 1);

} // namespace this_task

/// Takes back `n` events of a task; the last one completes it, here, if its body has ended. Any thread, worker or not. Never blocks.
/// Throws weft::error: event_underflow when the task has fewer, and then none is taken; invalid_argument for an empty reference.
WEFT_API void decrease_events(task_ref t, std::uint32_t n = 1);

} // namespace weft::inline v0

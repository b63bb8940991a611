// SPDX-License-Identifier: Apache-2.0
// Hooks of taskiter in the life of a task: a task that was recorded runs again and again. Supplied
// by the module iter.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns whether the task belongs to the graph of its parent, a taskiter: such a task is neither
/// freed nor counted when it is over.
[[nodiscard]] inline bool is_recorded(const task &t) noexcept {
  return t.base() == runnable::kind::recorded;
}

/// Returns the number of accesses that can be asked for. The accesses of a recorded task are edges
/// of its graph, except its reductions: its node counts these.
[[nodiscard]] inline std::uint32_t known_accesses(const task &t) noexcept {
  if (!is_recorded(t)) [[likely]]
    return t.extent;
  return static_cast<const runnable *>(t.done_word.load(std::memory_order_relaxed))
      ->extent; // written before the first round
}

/// Returns the graph for which the children of `t` are being recorded, or that is being run; else
/// null. The flag is tested first because it is mostly false.
[[nodiscard]] inline iteration *iteration_of(const task &t) noexcept {
  const task_extra *x = t.has(detail::k_final) ? peek_extra(t) : nullptr;
  return x ? x->iterated : nullptr;
}

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

} // namespace rt
} // namespace weft::inline v0

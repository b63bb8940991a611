// SPDX-License-Identifier: Apache-2.0
// What the life of a task owes to taskiter: a task that was recorded is run again and again. Supplied by the module iter.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// The task belongs to the graph of its parent, a taskiter: it is neither freed nor counted when it is over.
[[nodiscard]] inline bool is_recorded(const task &t) noexcept { return t.base() == runnable::kind::recorded; }

/// The accesses that can be asked for. Those of a recorded task are edges of its graph, but for what it reduces: its node counts these.
[[nodiscard]] inline std::uint32_t known_accesses(const task &t) noexcept {
  if (!is_recorded(t)) [[likely]]
    return t.extent;
  return static_cast<const runnable *>(t.done_word.load(std::memory_order_relaxed))->extent; // written before the first round
}

/// The graph that the children of `t` are being recorded for, or that is being run; else null. The flag comes first: it is mostly false.
[[nodiscard]] inline iteration *iteration_of(const task &t) noexcept {
  const task_extra *x = t.has(detail::k_final) ? peek_extra(t) : nullptr;
  return x ? x->iterated : nullptr;
}

/// The task was recorded as one that has the object for itself.
[[nodiscard]] bool recorded_as_writer(const task &t, const void *address) noexcept;

/// Descends from a final task, or is one.
[[nodiscard]] bool is_final(const task &t) noexcept;

/// A body has thrown, or a child of one: its taskiter ends, and fails. Any thread.
void recorded_failed(task &t, std::exception_ptr error) noexcept;
/// Body and events are over.
void recorded_is_over(task &t) noexcept;
/// So are all descendants.
void recorded_is_complete(task &t) noexcept;

/// Runs the body on the stack that it asks for; what it throws is kept.
void run_whole(task &t) noexcept;

} // namespace rt
} // namespace weft::inline v0

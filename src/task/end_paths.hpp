// SPDX-License-Identifier: Apache-2.0
// The ends of a body that are not fast, by case; the table is in execute.cpp. Each makes `outer` the
// current task again, and returns what execute() returns. The body ran on `where`.
#pragma once

#include "task/execute.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Ends a task that shares its only access, and whose closure needs no destructor.
WEFT_NOINLINE runnable *end_member(task &self, task *outer, body_on where);
/// Ends a task that has several accesses, regions, or had children with accesses.
WEFT_NOINLINE runnable *end_with_accesses(task &self, task *outer, body_on where);
/// Ends a task with a handle, and without accesses, children and an extra block.
WEFT_NOINLINE runnable *end_signalled(task &self, task *outer, body_on where) noexcept;
/// Returns whether the run ends in some other way than the task: a coroutine waits, for example.
WEFT_INLINE bool goes_again(const task &self, const task_extra &extra) noexcept {
  return extra.instead_of_end && !extra.only_destructor && !self.has(detail::k_cancelled);
}
/// Ends such a run.
WEFT_INLINE runnable *begin_again(task &self, task_extra &extra, task *outer) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  now.current = outer;
  count(now.counts->reruns);
  std::exchange(extra.instead_of_end, nullptr)(self); // the last touch
  return nullptr;
}
/// Ends a task that has an extra block or children, or whose end is signalled.
WEFT_NOINLINE runnable *end_general(task &self, task *outer, body_on where);

} // namespace rt
} // namespace weft::inline v0

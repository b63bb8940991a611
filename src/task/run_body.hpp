// SPDX-License-Identifier: Apache-2.0
// Runs the body of a task, with what traces, measures or stops bodies around it.
#pragma once

#include "base/log.hpp"
#include "task/failure.hpp"
#include "task/groups/group.hpp"
#include "task/task.hpp"

#include <atomic>
#include <cxxabi.h>

namespace weft::inline v0 {
namespace rt {

/// Decides what is done around each body: the setting stack.watermark, and what the trace records.
/// Called when the trace is open, before any task exists.
void hook_bodies(bool measures_stacks) noexcept;
/// Makes each worker call stop_at_safepoint() before each body, until disarm_safepoint(). Any
/// thread.
void arm_safepoint() noexcept;
void disarm_safepoint() noexcept;

[[nodiscard]] inline bool is_cancelled(const task &self) noexcept {
  return self.group && self.group->internals().cancelled.load(std::memory_order_relaxed);
}

/// Returns whether a holder of a future has asked the task to stop.
[[nodiscard]] inline bool is_asked_to_stop(const task &self) noexcept {
  const task_extra *const extra = peek_extra(self);
  return extra && extra->stop.load(std::memory_order_relaxed);
}

/// Says what is done around each body.
enum body_hook : std::uint8_t {
  k_measures_stacks = 1,
  k_traces_bodies = 2,
  k_safepoint = 4,
  k_traces_switches = 8 // with k_traces_bodies: the trace records nothing else of tasks
};
// Written before any task exists, except k_safepoint, which is a hint: a worker that misses it
// stops at its next body.
inline std::atomic<std::uint8_t> g_body_hooks{0};

WEFT_INLINE void invoke_body(task &self) noexcept {
  try {
    self.ops->invoke(detail::storage(&self));
  } catch (abi::__forced_unwind &) {
    fatal(
        "task '%s' was ended by pthread_exit() or pthread_cancel(); a task has to return or to throw",
        label_of(self));
  } catch (...) {
    fail(self, std::current_exception());
  }
}

/// Runs the body with the hooks that are on.
WEFT_NOINLINE void run_hooked(task &self) noexcept;

/// Runs the body, and keeps what it throws.
WEFT_INLINE void run_body(task &self) noexcept {
  if (g_body_hooks.load(std::memory_order_relaxed)) [[unlikely]]
    run_hooked(self);
  else
    invoke_body(self);
}

/// Runs the body of a task with an extra block, on the stack that it asks for; or, if that is what
/// the task came for, its deferred destructor.
WEFT_COLD void run_with_extra(task &self) noexcept;
/// Skips the body of a task whose group was cancelled; its handle reports that.
WEFT_COLD void skip_body(task &self) noexcept;

/// Runs the body on the stack that it asks for, and keeps what it throws.
void run_whole(task &self) noexcept;

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Lightweight threads: what a kernel thread needs to switch from one stack to another.
#pragma once

#include "arch/context.hpp"
#include "arch/exception_state.hpp"
#include "arch/sanitizer.hpp"
#include "arch/thread_slot.hpp"
#include "mem/slab.hpp"
#include "mem/stack_pool.hpp"
#include "observe/timekeeper.hpp"
#include "ult/frame_slot.hpp"
#include "ult/in_place_scope.hpp"
#include "ult/suspension_check.hpp"
#include "weft/detail/core.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {

struct thread_context;
struct tracer;

/// Says what a suspended frame waits for, and the object concerned: for reports.
enum class waits_for : std::uint8_t {
  nothing,
  children,
  group,
  end_of_task,
  start_of_task,
  unblock,
  lock,
  branch,
  functions,
  semaphore,
  latch,
  barrier,
  event,
  mutex, // one whose holder no word names
  notification,
  channel,
  call_once
};
struct wait_reason {
  waits_for what = waits_for::nothing;
  bool may_be_stopped = false; // by a stop request, which any thread may make
  const void *target = nullptr;

  constexpr wait_reason() noexcept = default;
  constexpr wait_reason(waits_for awaited, const void *object, bool stoppable = false) noexcept
      : what(awaited), may_be_stopped(stoppable), target(object) {}
};

} // namespace rt

namespace detail {

/// A flag of a frame whose home thread sleeps with it (worker/nap.hpp).
inline constexpr std::uint8_t k_naps = 1;

/// Describes a suspended stack. Lives on that stack, inside suspend().
struct frame : runnable {
  rt::context state;
  rt::exception_state exceptions;
  rt::thread_context *home =
      nullptr; // of a thread's own stack: the only thread that may continue it; with k_naps the one that slept
  rt::stack *pool_stack = nullptr;
  rt::sanitized_stack *sanitized = nullptr;
  task *current = nullptr;
  rt::wait_reason why;
  int saved_errno = 0; // a wait leaves errno alone, whatever ran meanwhile
  std::uint32_t traced; // the running task, only while a trace is written
  int cancel_state; // of a thread's own stack: pthread_cancel() waits until the thread is back on it
  rt::suspension_note note; // only with checks
};

} // namespace detail

namespace rt {

using detail::frame;
using detail::runnable;
using detail::task;

/// Publishes the frame that was left to the threads that may resume it. Runs on the next stack,
/// once the frame may be resumed.
using left_function = void (*)(thread_context &here, frame &left, void *context);

/// Names a function of the user that is called between tasks: what it is, and its name.
struct callback {
  const char *what;
  const char *name;
};

/// Holds what a kernel thread needs to switch stacks and to run tasks: the part of a worker that
/// switching uses. Only its own thread touches it, except own_frame.
struct thread_context {
  stack *pool_stack = nullptr; // null: the thread's own stack
  sanitized_stack *sanitized = nullptr;
  const char *stack_low = nullptr; // of the stack that it is on
  task *current = nullptr; // running
  task *counts_for = nullptr; // the parent of the tasks that it runs one after the other
  std::int64_t counted = 0; // of them have ended, and the parent's word does not count them yet
  exception_state *exceptions = nullptr; // of the thread
  int *error_number = nullptr; // the thread's errno
  runnable *handoff = nullptr; // first work of a fresh loop

  left_function left = nullptr; // the call that the stack that was left asked for
  frame *left_frame = nullptr;
  void *left_context = nullptr;
  stack *left_stack = nullptr; // to be given back

  heap *memory = nullptr; // for tasks
  counter_block *counts = nullptr;
  timekeeper time;

  stack_cache stacks;
  sanitized_stack thread_stack;
  const char *thread_stack_low = nullptr;
  watermark *thread_innermost = nullptr; // what is being measured on the thread's own stack
  frame_slot<frame> own_frame; // the thread's own stack, ready to be continued; set by any thread
  frame *suspended = nullptr; // the thread's own stack
  std::size_t thread_stack_bytes = 0;
  bool hosts = false; // a wait on the thread's own stack runs tasks
  const callback *in_callback = nullptr; // not null: what runs must not be suspended
  const void *serving = nullptr; // the service that is being called, until it ends itself
  tracer *trace = nullptr; // only while a trace is written
  struct outbox *messages = nullptr; // what it posts to managers; null when there are none
  std::int32_t pace =
      0; // how many more actions it does itself, or, below 0, posts, before it decides again
  in_place_scope in_place;
  std::uint32_t work_elsewhere = 0; // parts of measured work that the time of their caller lacks
};

/// Returns the calling thread's context or null. The caller asks anew after everything that may
/// suspend: the thread may be another one.
inline thread_context *this_thread_context() noexcept {
  return static_cast<thread_context *>(thread_slot());
}
inline void set_this_thread_context(thread_context *e) noexcept { set_thread_slot(e); }

/// Leaves the current stack until a waker makes the frame ready. Throws weft::error when no stack
/// can be had, or in a callback; then `publish` has not been called.
void suspend(left_function publish, void *context, wait_reason why = {});

/// Throws weft::error, no_block, because a callback asks to wait.
[[noreturn]] WEFT_COLD void refuse_wait_in(const callback &called);

/// Returns the thread that the running code must not leave: null, except on a thread's own stack
/// and in calls from there.
thread_context *home_of(thread_context &e) noexcept;

/// Calls `f` for each suspended frame on all stacks but the threads' own. Nothing may run
/// meanwhile.
void for_each_suspended(void (*f)(frame &, void *), void *context);

/// Continues `suspended`. Called from a worker loop, whose stack is given back.
[[noreturn]] void leave_for_frame(frame &suspended) noexcept;

/// Runs `entry(argument)` on a stack of its own of at least `bytes`; the caller's stack waits for
/// it.
void run_on_own_stack(std::size_t bytes, void (*entry)(void *), void *argument);

/// Makes the frame ready: gives it to its home thread or to the scheduler. Any thread. It is the
/// last touch of the frame.
void make_ready(frame &suspended);

/// Returns the bytes between the caller's frame and the low end of its stack.
[[gnu::always_inline]] inline std::size_t stack_left(const thread_context &e) noexcept {
  const char *here = static_cast<const char *>(__builtin_frame_address(0));
  return here > e.stack_low ? static_cast<std::size_t>(here - e.stack_low) : 0;
}

} // namespace rt
} // namespace weft::inline v0

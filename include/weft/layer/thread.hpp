// SPDX-License-Identifier: Apache-2.0
// Unstable: lightweight threads for layers whose programs think in threads. Changes with any version.
#pragma once

#include <weft/detail/core.hpp>

#include <cstddef>

namespace weft::inline v0 {
namespace layer {

/// Starts `body(argument)` on a stack of its own of at least `bytes`. It is no task: nobody waits for it, and the end of the program does
/// not either. Starts the runtime. Throws weft::error: out_of_resources, shut_down. Any thread.
WEFT_API void start_thread(std::size_t bytes, void (*body)(void *), void *argument);

/// Suspends the caller, a lightweight thread or a thread of the program, and its worker goes on with other work. `left(self, context)` runs
/// once unpark(self) is allowed, on another stack: it may unlock, publish, or unpark, but not wait. Afterwards a lightweight thread may be on
/// another kernel thread. Throws weft::error, out_of_resources, when there is no stack to go on with: `left` was not called.
WEFT_API void park(void (*left)(detail::runnable &self, void *context), void *context);

/// park(), where the caller's worker has other work of its own to go on with. False: it has none, and the caller goes on at once.
WEFT_API bool park_if_runnable(void (*left)(detail::runnable &self, void *context), void *context);

/// Whether there is work, of the caller's worker or of nobody in particular, that the worker could go on with. A guess.
[[nodiscard]] WEFT_API bool work_is_ready() noexcept;

/// What park() handed out goes on. Once per park; the last touch of it. Any thread.
WEFT_API void unpark(detail::runnable &parked);

/// Lets other ready work run first. Any thread that park() may be called on.
WEFT_API void yield_now();
/// The same where the own stack of the kernel thread below is ready, which no other thread can go on with.
WEFT_API void yield_to_pinned();

/// From now on the watcher calls `ask(tid)`, again and again, about each kernel thread that runs what passes no scheduling point while
/// something else is ready: so that the layer may see to it that what runs there calls yield_now(); and about external threads (external_thread.hpp). It must not wait.
/// It returns false where that thread cannot be told. What has not let go for long is taken for one that waits for the others: threads stand in for it, one after
/// the other. Null: nobody is asked.
WEFT_API void on_preempt(bool (*ask)(int tid));

/// From now on the runtime goes on while exit() runs the program's handlers and destructors: tasks are waited for before these, as ever, and workers end with Weft's library. They are not
/// waited for when `threads_compute()` says that lightweight threads may compute for ever.
WEFT_API void outlive_exit(bool (*threads_compute)()) noexcept;

/// Workers of the runtime, which is started by this.
[[nodiscard]] WEFT_API unsigned workers();

/// Whether a kernel thread of the process sleeps in a system call that it made itself, and not in a page fault; or has ended. The kernel is asked: microseconds.
[[nodiscard]] WEFT_API bool has_gone_to_sleep(int tid) noexcept;

/// Bytes [low, low + bytes) of the lightweight thread that runs; null on a thread's own stack.
struct stack_range {
  void *low;
  std::size_t bytes;
};
[[nodiscard]] WEFT_API stack_range own_stack() noexcept;

// Former names; they leave with 1.0.
[[deprecated("use yield_now")]] inline void give_way() { yield_now(); }
[[deprecated("use yield_to_pinned")]] inline void let_go() { yield_to_pinned(); }
[[deprecated("use park_if_runnable")]] inline bool park_for_others(void (*left)(detail::runnable &self, void *context), void *context) {
  return park_if_runnable(left, context);
}

} // namespace layer
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Unstable: lightweight threads for layers whose programs think in threads. Changes with any version.
#pragma once

#include <weft/detail/core.hpp>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// Names the runtime whose code a stack runs: `weft top` and reports show the share of each.
enum class client : std::uint8_t { weft, openmp, tbb, glt, rayon, other };

/// Starts `body(argument)` on a stack of its own of at least `bytes`, and starts the runtime if it
/// has not started. The new thread is not a task: neither a task nor the end of the program waits
/// for the thread. `runs`: the runtime that the thread belongs to.
///
/// Threads. Any.
/// Errors. out_of_resources, shut_down.
WEFT_API void start_thread(std::size_t bytes, void (*body)(void *), void *argument,
                           client runs = client::other);

/// Notes for which runtime the caller's stack runs from now on, and returns the former one. Does
/// nothing on a thread's own stack, and returns client::weft.
///
/// Cost. A store.
/// Threads. Any.
WEFT_API client set_client(client runs) noexcept;

/// Does that for its lifetime, which ends on the stack on which it begins.
class running_for {
 public:
  explicit running_for(client runs) noexcept : m_before(set_client(runs)) {}
  ~running_for() { set_client(m_before); }
  running_for(const running_for &) = delete;
  running_for &operator=(const running_for &) = delete;

 private:
  const client m_before;
};

/// Suspends the caller, a lightweight thread or a thread of the program; its worker goes on with
/// other work. `left(self, context)` runs once unpark(self) is allowed, on another stack: `left`
/// may unlock, publish, or unpark, but not wait. Afterwards a lightweight thread may be on another
/// kernel thread.
///
/// Errors. out_of_resources, when there is no stack to go on with: `left` was not called.
WEFT_API void park(void (*left)(detail::runnable &self, void *context), void *context);

/// Parks the caller if the caller's worker has other work of its own to go on with. Returns false
/// if the worker has none; then the caller goes on at once.
WEFT_API bool park_if_runnable(void (*left)(detail::runnable &self, void *context), void *context);

/// Returns whether there is work, of the caller's worker or of no particular worker, that the
/// worker could go on with. The answer is a guess.
[[nodiscard]] WEFT_API bool work_is_ready() noexcept;

/// Lets a caller of park() go on. It is called once per park(), and is the last use of `parked`.
///
/// Threads. Any.
WEFT_API void unpark(detail::runnable &parked);

/// Lets other ready work run first.
///
/// Threads. Any that park() may be called on.
WEFT_API void yield_now();
/// Lets other ready work run first if the kernel thread's own stack is ready, which no other thread
/// can go on with.
WEFT_API void yield_to_pinned();

/// Makes the watcher call `ask(tid)`, again and again, about each kernel thread whose code passes
/// no scheduling point while other work is ready; and about external threads (external_thread.hpp).
/// The layer then sees to it that this code calls yield_now().
///
/// - `ask` must not wait. It returns false if it cannot reach that thread.
/// - Weft takes a thread that has not yielded for long for one that waits for the others: other
///   threads run in its place, one after the other.
/// - Null: the watcher calls no function.
WEFT_API void on_preempt(bool (*ask)(int tid));

/// Holds functions that a kernel thread calls, with its own thread-local block, so that a layer can
/// move data of the kernel thread along with stacks. They must not suspend.
/// A stack is named by its low end, a thread's own stack by another address. A stack that has ended
/// may be used again, under the same name.
struct suspension_calls {
  /// The thread leaves a suspended stack for another one, suspended or fresh.
  void (*leaves)(const void *stack, const void *next) noexcept;
  /// The thread has come to a suspended stack, after `leaves` or from a stack that has ended.
  void (*continues)(const void *stack) noexcept;
};

/// Makes suspensions call the functions from now on, until the process ends. Another thread may miss
/// that for a while unless it has synchronized with the caller. A later call replaces the functions.
/// No functions are called where lightweight threads begin or end, and where a task begins on a
/// stack of its own.
///
/// Cost. Two calls per suspension; none before.
/// Threads. Any. `calls` stays valid for ever.
WEFT_API void call_at_suspensions(const suspension_calls &calls) noexcept;

/// Holds functions of a layer whose lightweight threads have a thread-local block each. To Weft such
/// a thread is a thread of its own once it uses Weft with that block. While it waits, it runs its own
/// tasks and no work of others, and then parks, so that it keeps no worker.
struct carrier_calls {
  /// Returns whether the caller is such a thread, and can be parked. It is asked when the caller uses
  /// Weft for the first time.
  bool (*is_carried)() noexcept;
  /// Parks the caller as layer::park() does, with the thread-local block of the kernel thread below.
  /// Returns false if the caller cannot be parked now; then `left` was not called.
  bool (*park)(void (*left)(detail::runnable &self, void *context), void *context) noexcept;
  /// Keeps the caller, any thread, on its kernel thread until as many calls with -1 as with 1 have
  /// come: it takes or gives back a lock of Weft for which its kernel thread, and others, may wait.
  void (*keep_kernel_thread)(int by) noexcept;
};

/// Makes such threads park by these functions from now on, until the process ends. A later call
/// replaces the functions. Without the functions such a thread keeps its worker's kernel thread while
/// it waits, and runs any work meanwhile.
///
/// Threads. Any, before the first of the threads uses Weft. `calls` stays valid for ever.
WEFT_API void park_on_carriers(const carrier_calls &calls) noexcept;

/// Keeps the runtime running while exit() runs the program's handlers and destructors. Before these
/// the program waits for tasks, as ever. Workers end with Weft's library; the program does not wait
/// for the workers when `threads_compute()` says that lightweight threads may compute for ever.
WEFT_API void outlive_exit(bool (*threads_compute)()) noexcept;

/// Starts the runtime, and returns the number of its workers.
[[nodiscard]] WEFT_API unsigned workers();

/// Describes what the workers do at one moment. A guess.
struct worker_use {
  unsigned workers = 0; ///< as workers(); 0 before Weft starts and after it has shut down
  unsigned idle = 0; ///< of them, those that sleep because they have found no work
  std::size_t ready = 0; ///< tasks, frames and lightweight threads that wait for a worker
};
/// Returns how the workers are used.
///
/// Cost. A load for each worker and for each queue.
/// Threads. Any.
[[nodiscard]] WEFT_API worker_use use_of_workers() noexcept;

/// Returns whether a kernel thread of the process sleeps in a system call that it made itself, and
/// not in a page fault; or has ended.
///
/// Cost. The kernel is asked: microseconds.
[[nodiscard]] WEFT_API bool has_gone_to_sleep(int tid) noexcept;

/// Holds the bytes [low, low + bytes) of the lightweight thread that runs; null on a thread's own
/// stack, and in the child of a fork() in a task.
struct stack_range {
  void *low;
  std::size_t bytes;
};
[[nodiscard]] WEFT_API stack_range own_stack() noexcept;

// Former names; they leave with 1.0.
[[deprecated("use yield_now")]] inline void give_way() { yield_now(); }
[[deprecated("use yield_to_pinned")]] inline void let_go() { yield_to_pinned(); }
[[deprecated("use park_if_runnable")]] inline bool
park_for_others(void (*left)(detail::runnable &self, void *context), void *context) {
  return park_if_runnable(left, context);
}

} // namespace layer
} // namespace weft::inline v0

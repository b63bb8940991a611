// SPDX-License-Identifier: Apache-2.0
// Lightweight threads for doors: threads that Weft's workers carry, each with a stack and a
// thread-local block of its own.
//
// What a lightweight thread runs sees a thread: pthread_self(), thread_local variables, errno,
// values of pthread keys and pthread_getattr_np() are its own, and destructors run at its end.
// sched_yield(), nanosleep() and usleep() let other lightweight threads run.
// A thread that computes for long is interrupted where others wait.
// What it asks of the kernel for itself (cpus, scheduling, signals) follows it from worker to
// worker.
//
// All doors of a process share one library, libweft-threads.so, and so one set of blocks and one
// handler of signals.
#pragma once

#include <weft/config.hpp>
#include <weft/layer/thread.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>

#define WEFT_THREADS_API __attribute__((visibility("default")))

namespace weft_threads {

/// What the library keeps of one thread, lightweight or of the program. A record is never freed: a
/// thread that ends leaves it to a later thread, perhaps of another door.
struct thread_record;

/// Says what a lightweight thread runs.
struct light_thread_request {
  void (*run)(void *argument) = nullptr; ///< the thread; it must not throw
  void *argument = nullptr;
  /// Called once after `run` and after the destructors of the thread's variables, when the thread's
  /// record is no longer the door's. It runs with the worker's block and may use Weft, but must not
  /// wait. Null: nothing.
  void (*ended)(void *argument) = nullptr;
  std::size_t stack_bytes = 0; ///< with a guard page; 0: 2 MiB. What is not touched takes no memory
  const char *kind = "thread"; ///< what light_threads() counts; a literal. Null: it is not counted
  weft::layer::client runs = weft::layer::client::other; ///< the runtime that the thread belongs to
};

/// Starts a lightweight thread, and starts Weft's runtime if it has not started. The thread begins
/// with the signal mask, and with what it may ask of the kernel, of the caller if that is a
/// lightweight thread.
///
/// Returns null if the thread cannot start; then nothing of the request is called. `reason`, unless
/// it is null, then names the cause; it is a literal or lasts until the caller's next call.
/// The result is valid until `ended` is called.
///
/// Threads. Any.
[[nodiscard]] WEFT_THREADS_API thread_record *
start_light_thread(const light_thread_request &request, const char **reason = nullptr) noexcept;

/// Returns the lightweight thread that calls, of any door. Null: the caller is a thread of the
/// program, a worker, or a task of Weft's own.
[[nodiscard]] WEFT_THREADS_API thread_record *this_light_thread() noexcept;

/// Waits until another thread has called unpark() for the caller. One unpark() that comes first is
/// kept, further ones are lost. The wait may end for no reason, so the caller looks again at what it
/// waits for. The worker runs other work meanwhile, and afterwards the caller may be on another
/// kernel thread.
///
/// Threads. A lightweight thread.
WEFT_THREADS_API void park_light_thread() noexcept;
/// Lets a thread that is in park_light_thread(), or its next call of it, go on. What the caller did
/// before is visible to that thread then.
///
/// Threads. Any. The thread that is woken must not have ended.
WEFT_THREADS_API void unpark(thread_record &sleeper) noexcept;

/// Lets other ready work run first. On a thread that is not lightweight: lets other kernel threads
/// run.
WEFT_THREADS_API void yield_light_thread() noexcept;

/// Calls `f(argument)` so that it may use Weft's functions (weft/...), which run with the worker's
/// thread-local block. A lightweight thread may be on another kernel thread afterwards. errno of a
/// lightweight thread does not change. On any other thread it is a plain call.
///
/// `f` does not use thread-local variables that it shares with the caller.
WEFT_THREADS_API void call_in_weft(void (*f)(void *argument), void *argument);

/// Calls `f()` as above. What `f` throws passes through.
template <class F>
void in_weft(F &&f) {
  call_in_weft([](void *p) { (*static_cast<std::remove_reference_t<F> *>(p))(); },
               const_cast<void *>(static_cast<const void *>(std::addressof(f))));
}

/// Returns how many lightweight threads of a kind have started and not called `ended`.
[[nodiscard]] WEFT_THREADS_API std::size_t light_threads(const char *kind) noexcept;

/// Returns whether no lightweight thread can start or sleep in this process any more: Weft has shut
/// down, or this is the child of a fork() that a lightweight thread called, and has that thread
/// only.
/// In the child of a fork() that any other thread called there are no lightweight threads; the first
/// one starts Weft anew, and the records of the parent's threads are invalid.
[[nodiscard]] WEFT_THREADS_API bool runtime_is_gone() noexcept;

/// Returns whether the program was built with ThreadSanitizer and this library was not: then no
/// lightweight thread can start. The sanitizer's runtime tells threads apart by thread-local variables
/// that it sets up itself. It knows nothing of blocks, so the program would end at once.
[[nodiscard]] WEFT_THREADS_API bool sanitizer_forbids_blocks() noexcept;

/// Calls `forget` in each child of a fork() from now on, after this library's own handler: there a
/// door forgets its lightweight threads.
///
/// Threads. Any; once for each function.
WEFT_THREADS_API void forget_in_child(void (*forget)()) noexcept;

/// Calls `take` before each fork() from now on, and `give_back` behind it in both processes: so a door
/// holds over a fork what the child goes on with. `take` comes after all handlers of pthread_atfork()
/// that are newer than this library, because such a handler may wait for threads that need what is
/// held. It may wait for other threads, too, but none of them goes on while it calls this function.
///
/// Threads. Any; once for each pair of functions.
WEFT_THREADS_API void hold_over_fork(void (*take)(), void (*give_back)(bool is_child)) noexcept;

/// Makes what a library keeps for its threads under pthread keys belong to the stacks of Weft's tasks
/// from now on, and not to the kernel threads below. So a task that has called the library, and then
/// waits in Weft, is the same thread to the library afterwards, wherever it goes on. The library is
/// the object file that holds `code`; the keys are those with a destructor in it that it has made
/// so far.
///
/// Tasks that run one after the other on one stack are one thread to the library, as is a task with
/// those that it runs in place. A stack keeps its values when its last task has ended, for the next
/// one there: they are never destroyed.
///
/// Returns whether there are such keys, and this C library is known.
/// Threads. Any, before the library gives a thread its first value.
WEFT_THREADS_API bool keep_values_on_stacks(const void *code) noexcept;

/// Says when lightweight threads that have no kind may compute for ever. The end of the program does
/// not wait for workers while one of the given functions says so, or while there are threads of any
/// kind.
WEFT_THREADS_API void outlive_exit(bool (*threads_compute)()) noexcept;

} // namespace weft_threads

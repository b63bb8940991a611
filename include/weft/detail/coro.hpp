// SPDX-License-Identifier: Apache-2.0
// What coroutines and the library agree on, without <coroutine>: the objects of weft/sync.hpp take it as well. The
// protocol is in src/task/wait/coroutine.hpp. Not for users: it changes with the version.
#pragma once

#include <weft/detail/wait_list.hpp>

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <type_traits>

namespace weft::inline v0 {
namespace detail {

struct coro_root;

/// Links the coroutines of one task: each awaits the one that it called.
struct coro_link {
  void *frame = nullptr; // std::coroutine_handle<>::address()
  coro_link *caller = nullptr; // goes on when this one ends; null: the first of its task
  coro_root *root; // written before the coroutine runs: a write here would show in each await
};

/// Is the trampoline of a task whose body is a coroutine. It lives in the block of that task.
struct coro_root {
  coro_link *at = nullptr; // the one that runs, or is to run next
  /// Says, while not null, that the body is to be left, and is called then: from that call on the
  /// task may run again.
  void (*leave)(void *context) noexcept = nullptr;
  void *context = nullptr;
  runnable *self = nullptr; // its task; null before the first suspension
  const void *awaited = nullptr; // for reports
  std::uint8_t why = 0; // rt::waits_for, and a bit of task/wait/coroutine.hpp
  std::uint8_t depth = 0; // coroutines on the stack that each resumed the next
};
/// Limits how many coroutines may be on the stack below coro_run(): each takes a frame there.
inline constexpr std::uint8_t k_coroutines_on_stack = 4;

inline constexpr std::size_t k_most_kept = 1024; // bytes of a frame that a worker keeps

/// Allocates the frame of a coroutine from the calling worker's pool. Throws weft::error.
[[nodiscard]] WEFT_API void *coro_allocate(std::size_t bytes);
WEFT_API void coro_free(void *frame) noexcept; // any thread
/// The same, by way of the block that the calling worker keeps: for frames, of which one size often
/// comes and goes.
[[nodiscard]] WEFT_API void *coro_allocate_kept(std::size_t bytes);
WEFT_API void coro_keep(void *frame, std::size_t bytes) noexcept; // any thread
/// Resumes coroutines, one after the other, until the first one of the task is over (true) or the
/// task has to wait (false). The body of the task calls it, in every run.
[[nodiscard]] WEFT_API bool coro_run(coro_root &root);
/// Ends the loop of coro_run(): the task is over.
WEFT_API void coro_over(void *) noexcept;
/// Makes the running task one that can wait without a stack. Throws weft::error.
WEFT_API void coro_prepare(coro_root &root);
/// Makes the record that resumes a coroutine of another library. Throws weft::error.
[[nodiscard]] WEFT_API runnable *coro_record(void *frame, void (*resume)(void *frame));
/// Gives back a record that was not enqueued.
WEFT_API void coro_drop_record(runnable *record) noexcept;
/// Enqueues the record when the task has ended. False: it has, and the record is gone.
[[nodiscard]] WEFT_API bool coro_resume_after(task *t, runnable *record);
/// Lets a coroutine go on: enqueues what an awaiter calls `goes_on`. Any thread.
WEFT_API void coro_go_on(runnable *goes_on) noexcept;
[[noreturn]] WEFT_API void throw_no_coroutine();

template <class Promise>
concept own_promise = std::is_base_of_v<coro_link, Promise>;
template <class Handle>
inline constexpr bool is_own =
    own_promise<std::remove_cvref_t<decltype(std::declval<Handle>().promise())>>;

struct coro_waits; // knows, for traces, what each `leave` waits for

/// Is what awaiters of this library derive from: the coroutine goes on when `goes_on` is enqueued.
struct coro_awaiter {
  runnable *goes_on = nullptr;

  /// Names what goes on: the task of the coroutine. Throws weft::error.
  template <class Handle>
  void begin_wait(Handle handle) {
    if constexpr (is_own<Handle>) {
      coro_root &root = *handle.promise().root;
      if (!root.self) [[unlikely]]
        coro_prepare(root);
      goes_on = root.self;
    } else {
      goes_on =
          coro_record(handle.address(), [](void *frame) { Handle::from_address(frame).resume(); });
    }
  }
  /// Undoes that: the coroutine does not wait.
  template <class Handle>
  void forget_wait(Handle) noexcept {
    if constexpr (!is_own<Handle>)
      coro_drop_record(goes_on);
  }
  /// Leaves the coroutine. `leave(context)` makes the wait known to the thread that ends it; it is
  /// called when the coroutine is no longer touched.
  template <class Handle>
  void end_wait(Handle handle, void (*leave)(void *) noexcept, void *context) noexcept {
    if constexpr (is_own<Handle>) {
      coro_root &root = *handle.promise().root;
      root.context = context;
      root.leave = leave;
    } else {
      leave(context);
    }
  }
};

/// Is what an awaiter derives from that holds one of this library, and passes the handle on to it.
struct coro_awaiter_around {};

template <class Awaiter>
inline constexpr bool is_coro_awaiter =
    std::is_base_of_v<coro_awaiter, Awaiter> || std::is_base_of_v<coro_awaiter_around, Awaiter>;

/// Waits for the end of a task.
struct task_end : coro_awaiter, waiter {
  task *awaited;
  explicit task_end(task *t) noexcept : awaited(t) {}
  [[nodiscard]] bool await_ready() const noexcept { return !awaited || task_is_done(awaited); }
  template <class Handle>
  bool await_suspend(Handle handle) {
    if (begin_awaited(awaited))
      return false;
    this->begin_wait(handle);
    this->end_wait(handle, &leave, this);
    return true;
  }

 private:
  friend coro_waits;
  /// Starts a deferred task, and runs one that has not begun, if it may. Returns whether it ended.
  WEFT_API static bool begin_awaited(task *t);
  WEFT_API static void leave(void *self) noexcept;
};

struct coro_limits;

/// Waits for the end of a task no longer than a limit says.
struct limited_task_end : coro_awaiter, waiter {
  enum class result : std::uint8_t { ended, timeout, deferred, stopped };
  task *awaited;
  wait_limit limit;
  result how = result::ended;
  coro_limits *limits = nullptr; // while it waits

  limited_task_end(task *t, const wait_limit &until) noexcept : awaited(t), limit(until) {}
  [[nodiscard]] bool await_ready() const noexcept { return task_is_done(awaited); }
  template <class Handle>
  bool await_suspend(Handle handle) {
    this->begin_wait(handle);
    bool waits = false;
    try {
      waits = arm();
    } catch (...) {
      this->forget_wait(handle);
      throw;
    }
    waits ? this->end_wait(handle, &leave, this) : this->forget_wait(handle);
    return waits;
  }
  result await_resume() {
    if (limits)
      disarm();
    return how;
  }
  [[nodiscard]] bool timed_out() const noexcept { return how == result::timeout; }

 private:
  friend coro_waits;
  WEFT_API bool arm();
  WEFT_API void disarm() noexcept;
  WEFT_API static void leave(void *self) noexcept;
};

} // namespace detail
} // namespace weft::inline v0

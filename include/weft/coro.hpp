// SPDX-License-Identifier: Apache-2.0
// Coroutines: lazy tasks, futures as return types, and what co_await takes. Not part of <weft/weft.hpp>.
#pragma once

#include <weft/coro/promise.hpp>
#include <weft/future.hpp>
#include <weft/group.hpp>
#include <weft/sync/call_once.hpp>
#include <weft/sync/condition_variable.hpp>

#include <chrono>
#include <concepts>
#include <coroutine>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

namespace detail {

template <class T>
struct task_promise : coro_promise<T> {
  weft::task<T> get_return_object() noexcept;
  static std::suspend_always initial_suspend() noexcept { return {}; }
};

/// Calls a coroutine: the caller goes on when it is over.
template <class T>
class called_coroutine;

} // namespace detail

/// Is the return type of a coroutine that begins when it is awaited:
///
///     weft::task<int> sum(const tree *t) {
///       if (!t)
///         co_return 0;
///       co_return t->value + co_await sum(t->left) + co_await sum(t->right);
///     }
///
/// - `co_await std::move(t)` runs it as a part of the caller, without a task of its own, and returns
///   its value or rethrows its exception. Once.
/// - get() runs it from code that is no coroutine. spawn(), async(), and the spawn() of a group take
///   it, and a callable that returns one: a task then keeps the callable, its accesses and its place in its
///   group until the coroutine is over, and keeps no stack while it waits.
/// - One that is never awaited is destroyed with the object.
///
/// Cost. One frame from the pool of the worker. An await uses no stack, however deep the calls are.
/// Threads. One at a time uses the object.
/// Errors. Making one: out_of_resources without memory for the frame; bad_setting when it starts
/// Weft.
/// Source. Kennedy and others, ISO C++20 [expr.await].
template <class T = void>
class [[nodiscard]] task {
 public:
  using value_type = T; ///< the type of the result
  using promise_type = detail::task_promise<T>; ///< as the language asks for it

  task() noexcept = default;
  /// Takes the coroutine over.
  task(task &&other) noexcept : m_coroutine(std::move(other.m_coroutine)) {}
  /// Takes the coroutine over, and destroys the one that it had.
  task &operator=(task &&other) noexcept {
    std::swap(m_coroutine.promise, other.m_coroutine.promise);
    task gone(std::move(other));
    return *this;
  }
  ~task() = default;

  /// Returns whether the object has a coroutine: not yet awaited, nor moved from.
  [[nodiscard]] bool valid() const noexcept { return m_coroutine.promise; }
  /// Runs the coroutine as a task, waits, and returns its value or rethrows its exception.
  ///
  /// Threads. Any; also one that does not use Weft.
  /// Blocks. Yes: the worker runs other tasks meanwhile. In a coroutine use co_await.
  /// Errors. invalid_argument without a coroutine; else as spawn().
  T get() { return async(std::move(*this)).get(); }
  /// Returns the object itself: so whatever takes a callable that returns a task takes the task.
  [[nodiscard]] task operator()() noexcept { return std::move(*this); }
  /// Begins the coroutine, and goes on when it is over.
  ///
  /// Errors. invalid_argument without a coroutine.
  auto operator co_await() && noexcept { return detail::called_coroutine<T>(*this); }

  explicit task(detail::coro_promise<T> *promise) noexcept
      : m_coroutine(promise) {} ///< for the library
  /// Gives the coroutine away; for the library.
  [[nodiscard]] detail::coro_promise<T> *release() && noexcept {
    return std::exchange(m_coroutine.promise, nullptr);
  }
  [[nodiscard]] detail::coro_promise<T> *internals() const noexcept {
    return m_coroutine.promise;
  } ///< for the library

 private:
  detail::owned_coroutine<T> m_coroutine;
};

namespace detail {

template <class T>
weft::task<T> task_promise<T>::get_return_object() noexcept {
  this->frame = std::coroutine_handle<task_promise>::from_promise(*this).address();
  return weft::task<T>(this);
}

template <class T>
class called_coroutine : public coro_awaiter {
 public:
  explicit called_coroutine(weft::task<T> &t) noexcept : m_callee(t) {}
  [[nodiscard]] bool await_ready() const {
    if (!m_callee.valid())
      throw_no_coroutine();
    return false;
  }
  /// Resumes the callee, or leaves that to coro_run(). Returns whether the caller has to wait: the
  /// callee is not over, or not yet run.
  template <class Promise>
    requires own_promise<Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
    coro_promise<T> &callee = *m_callee.internals();
    coro_link &caller = handle.promise();
    coro_root &root = *caller.root;
    callee.caller = &caller;
    callee.root = &root;
    root.at = &callee;
    if (root.depth == k_coroutines_on_stack)
      return true;
    ++root.depth;
    std::coroutine_handle<>::from_address(callee.frame).resume();
    --root.depth;
    return root.at != &caller;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) {
    this->begin_wait(handle); // of another library: a task runs the callee
    try {
      auto spawned = async(std::move(m_callee));
      m_task = future_access::take(spawned);
    } catch (...) {
      this->forget_wait(handle);
      throw;
    }
    return coro_resume_after(m_task, this->goes_on);
  }
  T await_resume() {
    if (m_task)
      return future<T>(m_task).get();
    const owned_coroutine<T> over(std::move(m_callee).release());
    return over.promise->take();
  }

 private:
  weft::task<T> &m_callee;
  task *m_task = nullptr;
};

/// Is the coroutine of a future, given to its task.
template <class T>
struct begun_coroutine {
  owned_coroutine<T> coroutine;
  weft::task<T> operator()() noexcept {
    return weft::task<T>(std::exchange(coroutine.promise, nullptr));
  }
};

template <class T>
struct future_promise : coro_promise<T> {
  task *state = nullptr;

  future<T> get_return_object() {
    this->frame = std::coroutine_handle<future_promise>::from_promise(*this).address();
    state = coro_create_future(k_ops<coro_body<begun_coroutine<T>, T>>);
    return future<T>(state);
  }
  /// Runs the coroutine on the caller's stack until it waits for the first time.
  struct start {
    static constexpr bool await_ready() noexcept { return false; }
    static void await_suspend(std::coroutine_handle<future_promise> handle) {
      future_promise &self = handle.promise();
      task *const t = self.state;
      ::new (storage(t))
          coro_body<begun_coroutine<T>, T>(begun_coroutine<T>{owned_coroutine<T>(&self)});
      coro_begin_future(t);
    }
    static void await_resume() noexcept {}
  };
  static start initial_suspend() noexcept { return {}; }
};

template <class T>
struct value_of_future<weft::task<T>> {
  using type = T;
};

/// Waits for a future, or a handle, and gets its result.
template <class Future>
class got_result : public task_end {
 public:
  got_result(task *t, Future &of) noexcept : task_end(t), m_future(of) {}
  decltype(auto) await_resume() { return m_future.get(); }

 private:
  Future &m_future;
};

/// Does the same, and gives up on a stop request.
template <class Future>
class got_unless_stopped : public limited_task_end {
 public:
  got_unless_stopped(task *t, Future &of, const std::stop_token &stop) noexcept
      : limited_task_end(t, {UINT64_MAX, &stop}), m_future(of) {}
  decltype(auto) await_resume() {
    if (limited_task_end::await_resume() == result::stopped)
      throw_stopped();
    return m_future.get();
  }

 private:
  Future &m_future;
};

/// Waits for a future for some time.
class future_within : public limited_task_end {
 public:
  using limited_task_end::limited_task_end;
  future_status await_resume() {
    switch (limited_task_end::await_resume()) {
    case result::deferred:
      return future_status::deferred;
    case result::timeout:
      return future_status::timeout;
    default:
      return future_status::ready;
    }
  }
};

} // namespace detail

/// @{ Lets a coroutine wait for the result, and get it as get() does: `co_await f`. A task that no
/// worker has begun runs at once, on the stack of the coroutine, if it may.
///
/// Cost. A suspension unless the result is there.
/// Errors. As get() of the object.
template <class T>
auto operator co_await(future<T> &f) noexcept {
  return detail::got_result<future<T>>(detail::future_access::state(f), f);
}
template <class T>
auto operator co_await(future<T> &&f) noexcept {
  return detail::got_result<future<T>>(detail::future_access::state(f), f);
}
template <class T>
auto operator co_await(const shared_future<T> &f) noexcept {
  return detail::got_result<const shared_future<T>>(detail::future_access::state(f), f);
}
template <class T>
auto operator co_await(handle<T> &h) noexcept {
  return detail::got_result<handle<T>>(h.internals(), h);
}
template <class T>
auto operator co_await(handle<T> &&h) noexcept {
  return detail::got_result<handle<T>>(h.internals(), h);
}
/// @}

/// @{ Lets a coroutine wait for the result unless a stop is requested first: `co_await async_get(f,
/// stop)`. The future and the token live until the await is over.
///
/// Errors. cancelled, and the future is unchanged; else as get().
template <class T>
[[nodiscard]] auto async_get(future<T> &awaited, const std::stop_token &stop) {
  if (!awaited.valid())
    detail::throw_no_state();
  return detail::got_unless_stopped<future<T>>(detail::future_access::state(awaited), awaited,
                                               stop);
}
template <class T>
[[nodiscard]] auto async_get(const shared_future<T> &awaited, const std::stop_token &stop) {
  if (!awaited.valid())
    detail::throw_no_state();
  return detail::got_unless_stopped<const shared_future<T>>(detail::future_access::state(awaited),
                                                            awaited, stop);
}
/// @}
/// Lets a coroutine wait for a future no longer than `most`; the result is as that of wait_for().
///
/// Errors. future_error no_state; out_of_resources.
template <class Future, class Rep, class Period>
  requires detail::is_future<Future>
[[nodiscard]] auto async_wait_for(const Future &awaited,
                                  const std::chrono::duration<Rep, Period> &most) {
  if (!awaited.valid())
    detail::throw_no_state();
  return detail::future_within(detail::future_access::state(awaited), detail::limit_of(most));
}

/// Lets a coroutine wait for the tasks of a group that it has made, as task_group::wait() does:
/// `co_await async_wait(group)`.
///
/// Errors. As task_group::wait(); out_of_resources.
[[nodiscard]] inline auto async_wait(task_group &group) noexcept {
  return detail::async_group(group);
}
/// Lets a coroutine wait for the children of its task, as taskwait() does.
///
/// Errors. As taskwait().
[[nodiscard]] inline auto async_taskwait() noexcept { return detail::async_children(); }

/// @{ Lets a coroutine wait until `condition()` holds, which it asks with the lock taken. With a token the result says
/// whether it holds; it is false if a stop was requested first. The arguments live until the await is
/// over.
///
/// Cost. One frame, and a suspension per notification.
/// Errors. out_of_resources; what the condition throws, with the lock taken.
template <class Predicate>
task<void> async_wait(condition_variable &variable, std::unique_lock<mutex> &lock,
                      Predicate condition) {
  while (!condition())
    co_await variable.async_wait(lock);
}
template <class Predicate>
task<bool> async_wait(condition_variable &variable, std::unique_lock<mutex> &lock,
                      const std::stop_token &stop, Predicate condition) {
  bool holds = condition();
  while (!holds && !stop.stop_requested()) {
    (void)co_await variable.async_wait(lock, stop);
    holds = condition();
  }
  co_return holds;
}
/// @}

namespace detail {

/// @{ Takes a lock again that a coroutine has given up: a mutex with async_lock(), or std::unique_lock or
/// std::shared_lock over one.
template <class Mutex>
[[nodiscard]] auto take_again(Mutex &lock) {
  return lock.async_lock();
}
template <class Mutex>
void adopt(Mutex &) noexcept {}

template <class Mutex>
[[nodiscard]] auto take_again(std::unique_lock<Mutex> &lock) {
  return lock.mutex()->async_lock();
}
template <class Mutex>
void adopt(std::unique_lock<Mutex> &lock) {
  lock = std::unique_lock(*lock.release(), std::adopt_lock);
}
template <class Mutex>
[[nodiscard]] auto take_again(std::shared_lock<Mutex> &lock) {
  return lock.mutex()->async_lock_shared();
}
template <class Mutex>
void adopt(std::shared_lock<Mutex> &lock) {
  lock = std::shared_lock(*lock.release(), std::adopt_lock);
}
/// @}

/// Gives the lock up, waits for a notification, and takes the lock again.
template <class Lock>
weft::task<wait_end> wait_for_notification(condition_variable_any &variable, Lock &lock,
                                           wait_limit limit) {
  const wait_end how = co_await variable.async_notified([&lock] { lock.unlock(); }, limit);
  co_await take_again(lock);
  adopt(lock);
  co_return how;
}

} // namespace detail

/// @{ Lets a coroutine wait for a notification, and give the lock up meanwhile, with any lock whose mutex
/// has async_lock(): a mutex of weft/sync.hpp, std::unique_lock over one, std::shared_lock over a
/// shared_mutex. With a token the result says whether a notification came before a stop request,
/// with a time it is a cv_status; with a condition, which is asked with the lock taken, whether that
/// holds. The arguments live until the await is over.
///
/// Cost. A frame per notification, and a suspension.
/// Errors. out_of_resources: in the wait for the notification the lock is taken then, in the wait for
/// the lock it is not; what the condition throws, with the lock taken.
template <class Lock>
task<void> async_wait(condition_variable_any &variable, Lock &lock) {
  (void)co_await detail::wait_for_notification(variable, lock, {});
}
template <class Lock>
task<bool> async_wait(condition_variable_any &variable, Lock &lock, const std::stop_token &stop) {
  co_return co_await detail::wait_for_notification(variable, lock, {UINT64_MAX, &stop}) ==
      detail::wait_end::granted;
}
template <class Lock, class Rep, class Period>
task<cv_status> async_wait_for(condition_variable_any &variable, Lock &lock,
                               std::chrono::duration<Rep, Period> most) {
  const auto how = co_await detail::wait_for_notification(variable, lock, detail::limit_of(most));
  co_return how == detail::wait_end::granted ? cv_status::no_timeout : cv_status::timeout;
}
template <class Lock, std::predicate Predicate>
task<void> async_wait(condition_variable_any &variable, Lock &lock, Predicate condition) {
  while (!condition())
    (void)co_await detail::wait_for_notification(variable, lock, {});
}
template <class Lock, std::predicate Predicate>
task<bool> async_wait(condition_variable_any &variable, Lock &lock, const std::stop_token &stop,
                      Predicate condition) {
  bool holds = condition();
  while (!holds && !stop.stop_requested()) {
    (void)co_await detail::wait_for_notification(variable, lock, {UINT64_MAX, &stop});
    holds = condition();
  }
  co_return holds;
}
/// @}

namespace detail {

/// Returns whether the function of the flag was called.
template <class F, class... Args>
weft::task<bool> call_once_awaiting(once_flag &flag, wait_limit limit, F f, Args... args) {
  const once_turn turn = co_await awaited_turn(flag, limit);
  if (turn != once_turn::calls)
    co_return turn == once_turn::was_called;
  ends_turn call{flag};
  if constexpr (requires { awaiter_of(std::invoke(f, args...)).await_ready(); })
    (void)co_await std::invoke(f, args...);
  else
    std::invoke(f, args...);
  co_return call.called = true;
}

} // namespace detail

/// Lets a coroutine do what call_once() does: `co_await async_call_once(flag, f, args...)`. It waits without a
/// stack while another call runs. If f(args...) returns what can be awaited, a weft::task for
/// example, the call is over when that is. Copies of f and the arguments are used; the flag lives
/// until the await is over.
///
/// Cost. Two frames.
/// Errors. Those of f; out_of_resources.
template <class F, class... Args>
  requires std::is_invocable_v<F &, Args &...>
task<void> async_call_once(once_flag &flag, F f, Args... args) {
  (void)co_await detail::call_once_awaiting(flag, {}, std::move(f), std::move(args)...);
}
/// @{ Does the same, and gives up the wait for another call as call_once() with a token and
/// call_once_for() do; the result says whether a call has returned. The token lives until the await
/// is over.
///
/// Cost. One frame.
/// Errors. As above.
template <class F, class... Args>
  requires std::is_invocable_v<F &, Args &...>
task<bool> async_call_once(once_flag &flag, const std::stop_token &stop, F f, Args... args) {
  return detail::call_once_awaiting(flag, {UINT64_MAX, &stop}, std::move(f), std::move(args)...);
}
template <class Rep, class Period, class F, class... Args>
  requires std::is_invocable_v<F &, Args &...>
task<bool> async_call_once_for(once_flag &flag, const std::chrono::duration<Rep, Period> &most,
                               F f, Args... args) {
  return detail::call_once_awaiting(flag, detail::limit_of(most), std::move(f),
                                    std::move(args)...);
}
/// @}

namespace this_task {

/// Suspends the coroutine for at least `time`. No stack waits.
///
/// Errors. Of the await: out_of_resources.
template <class Rep, class Period>
[[nodiscard]] auto async_sleep_for(const std::chrono::duration<Rep, Period> &time) {
  return detail::async_sleep(detail::limit_of(time));
}
/// Lets other ready work run before the coroutine goes on.
///
/// Errors. Of the await: out_of_resources.
[[nodiscard]] inline auto async_yield() noexcept { return detail::async_turn(); }

} // namespace this_task
} // namespace weft::inline v0

/// @cond
template <class T, class... Args>
struct std::coroutine_traits<weft::future<T>, Args...> {
  using promise_type = weft::detail::future_promise<T>;
};
/// @endcond

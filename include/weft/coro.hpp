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
  bool await_suspend(std::coroutine_handle<Promise> handle) {
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
    if (this->goes_on)
      return future<T>(m_task).get();
    const owned_coroutine<T> over(std::move(m_callee).release());
    return over.promise->take();
  }

 private:
  weft::task<T> &m_callee;
  task *m_task; // which runs the callee for a coroutine of another library, whose record is `goes_on`
};

/// Awaits a coroutine that it owns.
template <class T>
class [[nodiscard]] owned_call : public coro_awaiter_around {
 public:
  explicit owned_call(weft::task<T> &&called) noexcept
      : m_callee(std::move(called)), m_call(m_callee) {}
  owned_call(owned_call &&) = delete;
  owned_call &operator=(owned_call &&) = delete;
  ~owned_call() = default;
  [[nodiscard]] bool await_ready() const { return m_call.await_ready(); }
  template <class Handle>
  bool await_suspend(Handle handle) {
    return m_call.await_suspend(handle);
  }
  T await_resume() { return m_call.await_resume(); }

 private:
  weft::task<T> m_callee;
  called_coroutine<T> m_call;
};

template <class Clock, class Duration, class Begin>
weft::task<awaited_by<Begin>> begin_again_until(std::chrono::time_point<Clock, Duration> time,
                                                Begin begin) {
  for (;;) {
    const auto now = Clock::now();
    auto wait = begin(limit_of(time - now));
    const auto ends = [&] { return !wait.timed_out() || now >= time || Clock::now() >= time; };
    if constexpr (std::is_void_v<awaited_by<Begin>>) {
      co_await wait;
      if (ends())
        co_return;
    } else {
      auto result = co_await wait;
      if (ends())
        co_return result;
    }
  }
}
template <class Clock, class Duration, class Begin>
owned_call<awaited_by<Begin>>
await_again_until(const std::chrono::time_point<Clock, Duration> &time, Begin begin) {
  return owned_call<awaited_by<Begin>>(begin_again_until(time, std::move(begin)));
}

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

template <class T, class F, class Values>
weft::task<T> call_and_keep(F f, Values values) {
  co_return co_await std::apply(f, std::move(values));
}

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
class [[nodiscard]] got_unless_stopped : public limited_task_end {
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
template <class T>
[[nodiscard]] auto async_get(handle<T> &awaited, const std::stop_token &stop) {
  if (!awaited.valid())
    awaited.wait(); // throws
  return detail::got_unless_stopped<handle<T>>(awaited.internals(), awaited, stop);
}
/// @}
/// @{ Lets a coroutine wait for a future no longer than `most`, or until `time`; the result is as that of
/// wait_for(). The future lives until the await is over.
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
template <class Future, class Clock, class Duration>
  requires detail::is_future<Future>
[[nodiscard]] auto async_wait_until(const Future &awaited,
                                    const std::chrono::time_point<Clock, Duration> &time) {
  if (!awaited.valid())
    detail::throw_no_state();
  return detail::await_until(
      time, [state = detail::future_access::state(awaited)](const detail::wait_limit &limit) {
        return detail::future_within(state, limit);
      });
}
/// @}

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
/// @{ Does the same, but gives up when a stop is requested, after `most`, or when the time has come; the
/// result says whether the tasks are complete, as that of task_group::wait_for() and of
/// taskwait_for(). The group and the token live until the await is over.
///
/// Errors. As above.
[[nodiscard]] inline auto async_wait(task_group &group, const std::stop_token &stop) noexcept {
  return detail::limited_children(&group, {UINT64_MAX, &stop});
}
template <class Rep, class Period>
[[nodiscard]] auto async_wait_for(task_group &group,
                                  const std::chrono::duration<Rep, Period> &most) {
  return detail::limited_children(&group, detail::limit_of(most));
}
template <class Clock, class Duration>
[[nodiscard]] auto async_wait_until(task_group &group,
                                    const std::chrono::time_point<Clock, Duration> &time) {
  return detail::await_until(time, [&group](const detail::wait_limit &limit) {
    return detail::limited_children(&group, limit);
  });
}
[[nodiscard]] inline auto async_taskwait(const std::stop_token &stop) noexcept {
  return detail::limited_children(nullptr, {UINT64_MAX, &stop});
}
template <class Rep, class Period>
[[nodiscard]] auto async_taskwait_for(const std::chrono::duration<Rep, Period> &most) {
  return detail::limited_children(nullptr, detail::limit_of(most));
}
template <class Clock, class Duration>
[[nodiscard]] auto async_taskwait_until(const std::chrono::time_point<Clock, Duration> &time) {
  return detail::await_until(time, [](const detail::wait_limit &limit) {
    return detail::limited_children(nullptr, limit);
  });
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
inline auto wait_for_notification(condition_variable &variable, std::unique_lock<mutex> &lock,
                                  const wait_limit &limit) {
  return variable.async_notified(lock, limit);
}

/// Waits until a time of a clock that may be set meanwhile. The node stays in the list until then.
template <class Lock, class Clock, class Duration>
weft::task<cv_status> notified_until(condition_variable_any &variable, Lock &lock,
                                     std::chrono::time_point<Clock, Duration> time) {
  notified_event self;
  variable.begin_wait_by_event(self, lock);
  bool notified = false;
  std::exception_ptr failed;
  try {
    notified = co_await self.came.async_wait_until(time);
  } catch (...) {
    failed = std::current_exception();
  }
  if (!notified)
    notified = variable.end_wait_by_event(self);
  co_await take_again(lock);
  adopt(lock);
  if (failed && !notified)
    std::rethrow_exception(std::move(failed));
  co_return notified ? cv_status::no_timeout : cv_status::timeout;
}
template <class Lock, class Clock, class Duration>
owned_call<cv_status> await_notification_until(condition_variable_any &variable, Lock &lock,
                                               const std::chrono::time_point<Clock, Duration> &time) {
  return owned_call<cv_status>(notified_until(variable, lock, time));
}

/// Is a condition variable that takes such a lock.
template <class Variable, class Lock>
concept notifies =
    std::is_same_v<Variable, condition_variable_any> ||
    (std::is_same_v<Variable, condition_variable> && std::is_same_v<Lock, std::unique_lock<mutex>>);

[[nodiscard]] inline bool is_stopped(const std::stop_token *stop) noexcept {
  return stop && stop->stop_requested();
}

/// Waits until the condition holds, or for the limit. Returns whether the condition holds.
template <class Variable, class Lock, class Predicate>
weft::task<bool> wait_until_holds(Variable &variable, Lock &lock, wait_limit limit,
                                  Predicate condition) {
  bool holds = condition();
  while (!holds && !is_stopped(limit.stop)) {
    const wait_end how = co_await wait_for_notification(variable, lock, limit);
    holds = condition();
    if (how == wait_end::timed_out)
      break;
  }
  co_return holds;
}
template <class Variable, class Lock, class Clock, class Duration, class Predicate>
weft::task<bool> wait_until_holds(Variable &variable, Lock &lock, const std::stop_token *stop,
                                  std::chrono::time_point<Clock, Duration> time,
                                  Predicate condition) {
  bool holds = condition();
  while (!holds && !is_stopped(stop)) {
    wait_limit limit = limit_of(time - Clock::now());
    limit.stop = stop;
    const wait_end how = co_await wait_for_notification(variable, lock, limit);
    holds = condition();
    if (how == wait_end::timed_out && Clock::now() >= time)
      break;
  }
  co_return holds;
}
/// Waits for a notification until a limit, which counts from before the first await.
template <class Lock>
weft::task<cv_status> notified_within(condition_variable_any &variable, Lock &lock,
                                      wait_limit limit) {
  const wait_end how = co_await wait_for_notification(variable, lock, limit);
  co_return how == wait_end::granted ? cv_status::no_timeout : cv_status::timeout;
}

} // namespace detail

/// @{ Lets a coroutine wait for a notification, and give the lock up meanwhile, with any lock whose mutex
/// has async_lock(): a mutex of weft/sync.hpp, std::unique_lock over one, std::shared_lock over a
/// shared_mutex. With a token the result says whether a notification came before a stop request;
/// with a time it is a cv_status. The arguments live until the await is over.
///
/// Cost. A frame, and a suspension.
/// Errors. out_of_resources: in the wait for the notification the lock is taken then, in the wait for
/// the lock it is not.
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
template <class Lock, class Clock, class Duration>
task<cv_status> async_wait_until(condition_variable_any &variable, Lock &lock,
                                 std::chrono::time_point<Clock, Duration> time) {
  if constexpr (detail::is_clock_of_limits<Clock>)
    return detail::notified_within(variable, lock, detail::limit_of(time - Clock::now()));
  else
    return detail::notified_until(variable, lock, time);
}
/// @}
/// @{ Lets a coroutine wait until `condition()` holds, which it asks with the lock taken; with a token, until
/// a stop is requested; no longer than `most`, or until `time`. The result says whether the condition
/// holds. The variable is a condition_variable, or a condition_variable_any with a lock as above. The
/// arguments live until the await is over.
///
/// Cost. One frame, and a suspension per notification; with a condition_variable_any a frame per
/// notification.
/// Errors. As above; what the condition throws, with the lock taken.
template <class Variable, class Lock, std::predicate Predicate>
  requires detail::notifies<Variable, Lock>
task<void> async_wait(Variable &variable, Lock &lock, Predicate condition) {
  while (!condition())
    (void)co_await detail::wait_for_notification(variable, lock, {});
}
template <class Variable, class Lock, std::predicate Predicate>
  requires detail::notifies<Variable, Lock>
task<bool> async_wait(Variable &variable, Lock &lock, const std::stop_token &stop,
                      Predicate condition) {
  return detail::wait_until_holds(variable, lock, {UINT64_MAX, &stop}, std::move(condition));
}
template <class Variable, class Lock, class Rep, class Period, std::predicate Predicate>
  requires detail::notifies<Variable, Lock>
task<bool> async_wait_for(Variable &variable, Lock &lock,
                          const std::chrono::duration<Rep, Period> &most, Predicate condition) {
  return detail::wait_until_holds(variable, lock, detail::limit_of(most), std::move(condition));
}
template <class Variable, class Lock, class Rep, class Period, std::predicate Predicate>
  requires detail::notifies<Variable, Lock>
task<bool> async_wait_for(Variable &variable, Lock &lock, const std::stop_token &stop,
                          const std::chrono::duration<Rep, Period> &most, Predicate condition) {
  detail::wait_limit limit = detail::limit_of(most);
  limit.stop = &stop;
  return detail::wait_until_holds(variable, lock, limit, std::move(condition));
}
template <class Variable, class Lock, class Clock, class Duration, std::predicate Predicate>
  requires detail::notifies<Variable, Lock>
task<bool> async_wait_until(Variable &variable, Lock &lock,
                            const std::chrono::time_point<Clock, Duration> &time,
                            Predicate condition) {
  return detail::wait_until_holds(variable, lock, nullptr, time, std::move(condition));
}
template <class Variable, class Lock, class Clock, class Duration, std::predicate Predicate>
  requires detail::notifies<Variable, Lock>
task<bool> async_wait_until(Variable &variable, Lock &lock, const std::stop_token &stop,
                            const std::chrono::time_point<Clock, Duration> &time,
                            Predicate condition) {
  return detail::wait_until_holds(variable, lock, &stop, time, std::move(condition));
}
/// @}

namespace detail {

/// @{ Lets a coroutine wait for its turn until the limit.
[[nodiscard]] inline auto turn_within(once_flag &flag, const wait_limit &limit) {
  return awaited_turn(flag, limit);
}
template <class Clock, class Duration>
[[nodiscard]] auto turn_within(once_flag &flag,
                               const std::chrono::time_point<Clock, Duration> &time) {
  return await_until(time, [&flag](const wait_limit &limit) { return awaited_turn(flag, limit); });
}
/// @}

/// Returns whether the function of the flag was called.
template <class Limit, class F, class... Args>
weft::task<bool> call_once_awaiting(once_flag &flag, Limit limit, F f, Args... args) {
  const once_turn turn = co_await turn_within(flag, limit);
  if (turn != once_turn::calls)
    co_return turn == once_turn::was_called;
  ends_turn call(flag);
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
  (void)co_await detail::call_once_awaiting(flag, detail::wait_limit{}, std::move(f),
                                            std::move(args)...);
}
/// @{ Does the same, and gives up the wait for another call as call_once() with a token,
/// call_once_for() and call_once_until() do; the result says whether a call has returned. The token lives until the await
/// is over.
///
/// Cost. One frame.
/// Errors. As above.
template <class F, class... Args>
  requires std::is_invocable_v<F &, Args &...>
task<bool> async_call_once(once_flag &flag, const std::stop_token &stop, F f, Args... args) {
  return detail::call_once_awaiting(flag, detail::wait_limit{UINT64_MAX, &stop}, std::move(f),
                                    std::move(args)...);
}
template <class Rep, class Period, class F, class... Args>
  requires std::is_invocable_v<F &, Args &...>
task<bool> async_call_once_for(once_flag &flag, const std::chrono::duration<Rep, Period> &most,
                               F f, Args... args) {
  return detail::call_once_awaiting(flag, detail::limit_of(most), std::move(f),
                                    std::move(args)...);
}
template <class Clock, class Duration, class F, class... Args>
  requires std::is_invocable_v<F &, Args &...>
task<bool> async_call_once_until(once_flag &flag,
                                 const std::chrono::time_point<Clock, Duration> &time, F f,
                                 Args... args) {
  return detail::call_once_awaiting(flag, time, std::move(f), std::move(args)...);
}
/// @}

namespace this_task {

/// @{ Suspends the coroutine for at least `time`, or until Clock::now() has reached `end`, also when the clock is set
/// meanwhile. No stack waits. With a token the result says whether the time is over; it is false if a
/// stop was requested first. The token lives until the await is over.
///
/// Errors. Of the await: out_of_resources.
template <class Rep, class Period>
[[nodiscard]] auto async_sleep_for(const std::chrono::duration<Rep, Period> &time) {
  return detail::async_sleep(detail::limit_of(time));
}
template <class Clock, class Duration>
[[nodiscard]] auto async_sleep_until(const std::chrono::time_point<Clock, Duration> &end) {
  return detail::await_until(
      end, [](const detail::wait_limit &limit) { return detail::async_sleep(limit); });
}
template <class Rep, class Period>
[[nodiscard]] auto async_sleep_for(const std::chrono::duration<Rep, Period> &time,
                                   const std::stop_token &stop) {
  detail::wait_limit limit = detail::limit_of(time);
  limit.stop = &stop;
  return detail::async_stoppable_sleep(limit);
}
template <class Clock, class Duration>
[[nodiscard]] auto async_sleep_until(const std::chrono::time_point<Clock, Duration> &end,
                                     const std::stop_token &stop) {
  return detail::await_until(end, [&stop](detail::wait_limit limit) {
    limit.stop = &stop;
    return detail::async_stoppable_sleep(limit);
  });
}
/// @}
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

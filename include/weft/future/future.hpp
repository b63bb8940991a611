// SPDX-License-Identifier: Apache-2.0
// Futures: the results of tasks, what continues from them, and async().
#pragma once

#include <weft/detail/future.hpp>
#include <weft/detail/nanoseconds.hpp>
#include <weft/error.hpp>
#include <weft/handle.hpp>
#include <weft/task.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {

using std::future_errc;
using std::future_error;
using std::future_status;

template <class T>
class future;
template <class T>
class shared_future;
template <class T>
class promise;

/// Says when and where async() runs its callable.
enum class launch : unsigned {
  async = 1,    ///< as a task, as soon as a worker is free
  deferred = 2, ///< by the first thread that waits for it
  fork = 4,     ///< at once on this worker; the caller's frame may go on at another worker
  sync = 8,     ///< at once, before async() returns
};
/// Combines policies. async | deferred is async while a worker sleeps, and else deferred; no other
/// combination has a meaning.
constexpr launch operator|(launch a, launch b) noexcept {
  return static_cast<launch>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// @{ Does what the operators of the standard's launch policies do.
constexpr launch operator&(launch a, launch b) noexcept {
  return static_cast<launch>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr launch operator^(launch a, launch b) noexcept {
  return static_cast<launch>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
}
constexpr launch operator~(launch policy) noexcept {
  return static_cast<launch>(~static_cast<unsigned>(policy));
}
constexpr launch &operator|=(launch &a, launch b) noexcept { return a = a | b; }
constexpr launch &operator&=(launch &a, launch b) noexcept { return a = a & b; }
constexpr launch &operator^=(launch &a, launch b) noexcept { return a = a ^ b; }
/// @}

namespace detail {

template <class T>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;
template <class T>
inline constexpr bool is_future<shared_future<T>> = true;
template <class T>
inline constexpr bool is_sole_future = false;
template <class T>
inline constexpr bool is_sole_future<future<T>> = true;
template <class T>
inline constexpr bool is_future_range = false;
template <class T, class A>
inline constexpr bool is_future_range<std::vector<T, A>> = is_future<T>;

template <class T>
struct value_of_future {
  using type = T;
};
template <class T>
struct value_of_future<future<T>> {
  using type = T;
};
/// Names what a future of the result is a future of: a future of a future is one of its value.
template <class R>
using unwrapped = typename value_of_future<R>::type;

/// Lets the rest of the library see what a future refers to.
struct future_access {
  template <class Future>
  static task *state(const Future &before) noexcept {
    return before.m_state;
  }
  template <class Future>
  static task *take(Future &before) noexcept {
    return std::exchange(before.m_state, nullptr);
  }
  /// Does what get() does with a future that is ready.
  template <class T>
  static decltype(auto) value(future<T> &before) {
    return before.take(task_has_failed(before.m_state));
  }
  template <class T>
  static decltype(auto) value(const shared_future<T> &before) {
    return before.look();
  }
  /// Does the same, and leaves the value where it is: it lives as long as the future refers to it.
  template <class T>
  static decltype(auto) value_in_place(future<T> &before) {
    return before.look();
  }
};

/// Is what a call returns that may go on after it has returned, with references to its arguments: a
/// coroutine, or the future of one.
template <class F, class R>
inline constexpr bool goes_on_later = is_sole_future<R> || body_of<F, R>::is_coroutine;

/// Holds a reference of a state, and what all futures do with it.
class future_base {
 public:
  future_base() noexcept = default;
  future_base(future_base &&other) noexcept : m_state(std::exchange(other.m_state, nullptr)) {}
  future_base &operator=(future_base &&other) noexcept {
    if (this != &other) {
      drop();
      m_state = std::exchange(other.m_state, nullptr);
    }
    return *this;
  }
  ~future_base() { drop(); }

  /// Returns whether the object refers to a result.
  [[nodiscard]] bool valid() const noexcept { return m_state != nullptr; }
  /// @{ Returns whether the result, or which kind of it, is there. Never blocks.
  [[nodiscard]] bool is_ready() const noexcept { return task_is_done(m_state); }
  [[nodiscard]] bool has_value() const noexcept { return is_ready() && !task_has_failed(m_state); }
  [[nodiscard]] bool has_exception() const noexcept {
    return is_ready() && task_has_failed(m_state);
  }
  /// @}
  /// Waits for the result. A task that no worker has begun runs on the caller's stack if it may.
  ///
  /// Threads. Any.
  /// Blocks. Yes: the worker runs other tasks meanwhile.
  /// Errors. future_error no_state; else as taskwait().
  void wait() const {
    if (!m_state)
      throw_no_state();
    task_wait_done(m_state);
  }
  /// Waits as wait() does, and returns the exception, or null if the result is a value. The future
  /// keeps its result.
  [[nodiscard]] std::exception_ptr get_exception_ptr() const {
    wait();
    return task_exception(m_state);
  }
  /// @{ Waits until the result is there or the time is over. A deferred task is not started. Runs
  /// nothing in place.
  template <class Rep, class Period>
  future_status wait_for(std::chrono::duration<Rep, Period> most) const {
    const std::int64_t ns = whole_nanoseconds(most);
    switch (task_wait_for(m_state, ns < 0 ? 0 : ns, nullptr)) {
    case wait_result::deferred:
      return future_status::deferred;
    case wait_result::timeout:
      return future_status::timeout;
    default:
      return future_status::ready;
    }
  }
  template <class Clock, class Duration>
  future_status wait_until(std::chrono::time_point<Clock, Duration> end) const {
    for (;;) {
      const auto now = Clock::now();
      const future_status seen = wait_for(now < end ? end - now : Duration::zero());
      if (seen != future_status::timeout || Clock::now() >= end)
        return seen;
    }
  }
  /// @}
  /// Asks the task behind the future to stop: a body that has not begun is skipped, and the result
  /// is weft::error with errc::cancelled; a running body sees it by this_task::cancelled(). Does
  /// nothing to a promise.
  ///
  /// Errors. future_error no_state; out_of_resources.
  void request_stop() const {
    if (!m_state)
      throw_no_state();
    task_request_stop(m_state);
  }

 protected:
  explicit future_base(task *state) noexcept : m_state(state) {}
  void drop() noexcept {
    if (m_state)
      task_drop_handle(m_state);
    m_state = nullptr;
  }
  void wait_unless_stopped(const std::stop_token &stop) const {
    if (task_wait_for(m_state, -1, &stop) == wait_result::stopped)
      throw_stopped();
  }
  task *m_state = nullptr;
  friend struct future_access;
};

/// Calls `f` with the future before it, or with that future's value, whichever it takes. The value
/// that a coroutine refers to lives as long as this object.
template <class Before, class F>
struct continuation {
  /// Nothing is left to destroy after a call that returned: the value's future was used up.
  static constexpr bool k_uses_itself_up = std::is_trivially_destructible_v<F> &&
                                           !std::is_invocable_v<F, Before> &&
                                           is_sole_future<Before>;
  F f;
  Before before;
  decltype(auto) operator()() {
    if constexpr (std::is_invocable_v<F, Before>) {
      return std::invoke(std::move(f), std::move(before));
    } else if constexpr (std::is_void_v<decltype(before.get())>) {
      future_access::value(before);
      return std::invoke(std::move(f));
    } else {
      using value = decltype(before.get());
      if constexpr (is_sole_future<Before> && goes_on_later<F, std::invoke_result_t<F, value>>)
        return std::invoke(std::move(f), future_access::value_in_place(before));
      else
        return std::invoke(std::move(f), future_access::value(before));
    }
  }
};

/// Holds a body that returns a future: its task ends with the value of that future, and keeps no
/// stack until then.
template <class F, class Inner>
struct unwrapping_body {
  using value = unwrapped<Inner>;
  using stored = std::conditional_t<std::is_void_v<value>, char, value>;
  struct forward : posting_waiter {
    explicit forward(unwrapping_body *outer) noexcept : posting_waiter(&run), body(outer) {}
    static void run(call_record *call) noexcept {
      unwrapping_body &body =
          *static_cast<forward *>(static_cast<posted_call *>(call)->owner)->body;
      task *const t = task_of(&body);
      body.take_value(t);
      task_take_event(t); // the body may be gone
    }
    unwrapping_body *body;
  };

  result_of<stored> result;
  F f;
  Inner inner;
  forward node{this};
  bool has_result = false;

  template <class G>
  explicit unwrapping_body(G &&callable) : f(static_cast<G &&>(callable)) {}
  ~unwrapping_body() {}

  void take_value(task *t) noexcept {
    try {
      if constexpr (std::is_void_v<value>) {
        inner.get();
      } else {
        const auto get = [this]() -> value { return inner.get(); };
        result.make(get);
        has_result = true;
      }
    } catch (...) {
      state_fail(t, std::current_exception());
    }
  }
  static void invoke(void *p) {
    auto *const self = static_cast<unwrapping_body *>(p);
    self->inner = self->f();
    task *const from = future_access::state(self->inner);
    if (!from)
      throw std::future_error(std::future_errc::broken_promise);
    task_start(from);
    if (task_is_done(from))
      return self->take_value(task_of(p));
    task_add_event(task_of(p));
    if (!task_attach(from, &self->node)) {
      self->take_value(task_of(p));
      task_take_event(task_of(p));
    }
  }
  static void destroy(void *p) noexcept {
    auto *const self = static_cast<unwrapping_body *>(p);
    self->inner.~Inner();
    self->f.~F();
  }
  static void destroy_result(void *p) noexcept {
    auto *const self = static_cast<unwrapping_body *>(p);
    if (self->has_result)
      self->result.destroy();
  }
  static constexpr body_ops ops{&invoke, &destroy,  &destroy_result,
                                true,    sizeof(F), closure_name<F>()};
};

template <class Call, class R>
struct body_for {
  using type = typename body_of<Call, R>::type;
};
template <class Call, class T>
struct body_for<Call, future<T>> {
  using type = unwrapping_body<Call, future<T>>;
};

/// Spawns `call` with clauses; its result, unwrapped, is that of the future.
template <class Call, class... Clauses>
auto spawn_continuation(Call &&call, const Clauses &...clauses) {
  using closure = std::decay_t<Call>;
  using result = std::invoke_result_t<closure &>;
  if constexpr (alignof(closure) > k_storage_align) {
    return spawn_continuation(boxed<closure>(static_cast<Call &&>(call)), clauses...);
  } else {
    using body_type = typename body_for<closure, result>::type;
    auto h = spawn_closure<body_type>(nullptr, static_cast<Call &&>(call), tracked, clauses...);
    return future<unwrapped<result>>(std::move(h).release());
  }
}

/// Calls `call`, which holds futures, when these are ready.
template <class Call, std::size_t Count>
struct waiting_call {
  Call call;
  task *before[Count + (Count == 0)];
  decltype(auto) operator()() {
    for (std::size_t i = 0; i != Count; ++i)
      task_wait_done(before[i]);
    return call();
  }
};

/// Holds the operations of a body, of which those of a waiting_call name the futures it waits for: a
/// deferred task that goes hands them over.
template <class Body, class F>
struct launched_ops {
  static constexpr const body_ops &ops = k_ops<Body>;
};
template <class Body, class Call, std::size_t Count>
struct launched_ops<Body, waiting_call<Call, Count>> {
  static input_list inputs(const void *p) noexcept {
    const Body &body = *static_cast<const Body *>(p);
    if constexpr (requires { body.f; })
      return {body.f.before, Count};
    else
      return {body.base.f.before, Count}; // of a coroutine
  }
  static constexpr body_ops ops{Body::ops.invoke,
                                Body::ops.destroy,
                                Body::ops.destroy_result,
                                Body::ops.traits.flags != 0,
                                sizeof(Body),
                                Body::ops.closure,
                                &inputs};
};

/// Launches a callable without parameters; its result may be unwrapped.
template <bool Unwraps = false, class Call>
auto launch_call(launch policy, Call &&call) {
  using closure = std::decay_t<Call>;
  using result = std::invoke_result_t<closure &>;
  if constexpr (alignof(closure) > k_storage_align) {
    return launch_call<Unwraps>(policy, boxed<closure>(static_cast<Call &&>(call)));
  } else {
    using body_type = std::conditional_t<Unwraps, typename body_for<closure, result>::type,
                                         typename body_of_call<closure>::type>;
    task *const t = task_create_tracked(launched_ops<body_type, closure>::ops, nullptr);
    if constexpr (std::is_nothrow_constructible_v<closure, Call>) {
      ::new (storage(t)) body_type(static_cast<Call &&>(call));
    } else {
      try {
        ::new (storage(t)) body_type(static_cast<Call &&>(call));
      } catch (...) {
        task_abandon(t);
        throw;
      }
    }
    task_launch(t, static_cast<unsigned>(policy));
    return future<
        std::conditional_t<Unwraps, unwrapped<result>, typename body_of_call<closure>::value>>(t);
  }
}

/// Makes `call`, which holds the futures of the clauses, continue from them as the policy says.
template <class Call, class... After>
auto continue_as(launch policy, Call &&call, const After &...after) {
  const bool ready = (task_is_done(after.before) && ...);
  if (continues_as_task(static_cast<unsigned>(policy), ready))
    return spawn_continuation(static_cast<Call &&>(call), after...);
  using closure = std::decay_t<Call>;
  using kept = std::conditional_t<(alignof(closure) > k_storage_align), boxed<closure>, closure>;
  return launch_call<true>(policy, waiting_call<kept, sizeof...(After)>{
                                       kept(static_cast<Call &&>(call)), {after.before...}});
}

} // namespace detail

/// Refers to the result of a task or a promise: a value or an exception. A future is move-only, and
/// one thread at a time uses it.
///
/// - Its destructor never waits. The task goes on; an exception that no caller asked for is
///   reported as setting future.unobserved says.
/// - The handle that spawn() returns becomes a future for nothing.
///
/// Cost. One pointer. The state is the task's own block.
template <class T>
class [[nodiscard]] future : public detail::future_base {
 public:
  using value_type = T; ///< the type of the result

  future() noexcept = default;
  /// Takes over what the handle refers to.
  template <class U>
    requires std::is_same_v<U, T>
  future(handle<U> &&taken) noexcept // NOLINT: implicit
      : future_base(std::move(taken).release()) {}
  /// Unwraps: the result is that of the inner future.
  ///
  /// Cost. One task.
  /// Errors. future_error no_state; else as spawn().
  future(future<future> &&outer) // NOLINT: implicit
      : future(outer.then([](future<future> &&ready) { return ready.get(); })) {}
  explicit future(detail::task *state) noexcept : future_base(state) {} ///< for the library

  /// Waits, and returns the value or rethrows the exception. Afterwards the future refers to
  /// nothing.
  ///
  /// Blocks. Yes.
  /// Errors. As wait(), and future_error broken_promise.
  T get() {
    if (!m_state)
      detail::throw_no_state();
    return take(detail::task_wait_result(m_state));
  }
  /// Does the same, and gives up when `stop` is requested: the future is unchanged then. Runs nothing
  /// in place.
  ///
  /// Errors. cancelled; else as get().
  T get(const std::stop_token &stop) {
    this->wait_unless_stopped(stop);
    return take();
  }

  /// Makes a task that calls `f` when the result is there, with this future or with its value,
  /// whichever `f` takes; with the value an exception goes to the result without a call. Returns a
  /// future of what `f` returns; if that is a future, of its value. Clauses are those of spawn():
  /// accesses order the task among its siblings as of this call. The value lives until `f` has
  /// returned; if it returns a coroutine or a future, until that has its result.
  ///
  /// Cost. One allocation.
  /// Threads. The task runs on a worker, never inside of the call that sets the value.
  /// Errors. future_error no_state; else as spawn().
  template <class F, class... Clauses>
    requires(!std::is_same_v<std::decay_t<F>, launch>)
  auto then(F &&f, const Clauses &...clauses) {
    if (!m_state)
      detail::throw_no_state();
    const after_clause before(m_state);
    return detail::spawn_continuation(
        detail::continuation<future, std::decay_t<F>>{static_cast<F &&>(f), std::move(*this)},
        before, clauses...);
  }
  /// Does the same as the policy says: async as above; deferred when the first thread waits for the
  /// returned future, or continues from it; sync and fork at once if the result is there, as async()
  /// has them, and else as above.
  ///
  /// Errors. As above; invalid_argument for a policy that is none.
  template <class F>
  auto then(launch policy, F &&f) {
    if (!m_state)
      detail::throw_no_state();
    const after_clause before(m_state);
    return detail::continue_as(
        policy,
        detail::continuation<future, std::decay_t<F>>{static_cast<F &&>(f), std::move(*this)},
        before);
  }

  /// Returns a future that can be copied, in the place of this one.
  [[nodiscard]] shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

 private:
  friend struct detail::future_access;
  T take(bool may_have_failed = true) {
    struct dropper {
      ~dropper() { f.drop(); }
      future &f;
    } const last{*this};
    if (may_have_failed)
      throw_what_was_thrown();
    if constexpr (std::is_reference_v<T>)
      return detail::result_in<T>(m_state);
    else if constexpr (!std::is_void_v<T>)
      return std::move(detail::result_in<T>(m_state));
  }
  decltype(auto) look() {
    throw_what_was_thrown();
    if constexpr (!std::is_void_v<T>)
      return static_cast<T &&>(detail::result_in<T>(m_state));
  }
  void throw_what_was_thrown() {
    if (std::exception_ptr e = detail::task_take_exception(m_state))
      std::rethrow_exception(std::move(e));
  }
};

/// Refers, with its copies, to one result. Several threads may wait for it, each through its copy.
template <class T>
class shared_future : public detail::future_base {
 public:
  using value_type = T; ///< the type of the result

  shared_future() noexcept = default;
  /// Refers to the same result.
  shared_future(const shared_future &other) noexcept : future_base(other.m_state) {
    if (m_state)
      detail::task_add_handle(m_state);
  }
  /// Takes over the reference.
  shared_future(shared_future &&other) noexcept = default;
  /// Takes the place of a future.
  shared_future(future<T> &&before) noexcept // NOLINT: implicit, as in std
      : future_base(detail::future_access::take(before)) {}
  /// Refers to the same result.
  shared_future &operator=(const shared_future &other) noexcept {
    if (this != &other)
      *this = shared_future(other);
    return *this;
  }
  /// Takes over the reference.
  shared_future &operator=(shared_future &&other) noexcept = default;
  ~shared_future() = default;

  /// Waits, and returns the value, which stays where it is, or throws the exception.
  decltype(auto) get() const {
    this->wait();
    return look();
  }
  /// Does the same, and gives up when `stop` is requested. Runs nothing in place.
  ///
  /// Errors. cancelled; else as get().
  decltype(auto) get(const std::stop_token &stop) const {
    this->wait_unless_stopped(stop);
    return look();
  }
  /// Does what future::then() does; `f` gets a copy of this object, or the value.
  template <class F, class... Clauses>
    requires(!std::is_same_v<std::decay_t<F>, launch>)
  auto then(F &&f, const Clauses &...clauses) const {
    if (!m_state)
      detail::throw_no_state();
    return detail::spawn_continuation(
        detail::continuation<shared_future, std::decay_t<F>>{static_cast<F &&>(f), *this},
        after_clause(m_state), clauses...);
  }
  /// Does the same as the policy says: see future::then().
  template <class F>
  auto then(launch policy, F &&f) const {
    if (!m_state)
      detail::throw_no_state();
    return detail::continue_as(
        policy, detail::continuation<shared_future, std::decay_t<F>>{static_cast<F &&>(f), *this},
        after_clause(m_state));
  }

 private:
  friend struct detail::future_access;
  decltype(auto) look() const {
    if (detail::task_has_failed(m_state))
      std::rethrow_exception(detail::task_exception(m_state));
    if constexpr (std::is_reference_v<T>)
      return static_cast<T>(detail::result_in<T>(m_state));
    else if constexpr (!std::is_void_v<T>)
      return static_cast<const T &>(detail::result_in<T>(m_state));
  }
};

/// Makes a task wait for a future or a handle, beside its accesses: spawn(f, in(x), after(ready)).
/// The object may go before the task runs.
template <class T>
[[nodiscard]] after_clause after(const future<T> &before) noexcept {
  return after_clause(detail::future_access::state(before));
}
/// Does the same for a shared future.
template <class T>
[[nodiscard]] after_clause after(const shared_future<T> &before) noexcept {
  return after_clause(detail::future_access::state(before));
}

/// Calls a copy of `f` with copies of `args`, as the policy says, and returns the future of what it
/// returns. The task is a child of the caller: taskwait() waits for it, unless it is deferred and
/// was never waited for.
///
/// Cost. One allocation.
/// Threads. Any.
/// Errors. As spawn(); invalid_argument for a policy that is none.
template <class F, class... Args>
  requires std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>
auto async(launch policy, F &&f, Args &&...args) {
  return detail::launch_call(
      policy, detail::bind_call(static_cast<F &&>(f), static_cast<Args &&>(args)...));
}
/// Does the same with launch::async.
template <class F, class... Args>
  requires std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>
auto async(F &&f, Args &&...args) {
  return async(launch::async, static_cast<F &&>(f), static_cast<Args &&>(args)...);
}

} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Futures: results of tasks and promises, what continues from them, and how several are combined.
// Not part of <weft/weft.hpp>.
#pragma once

#include <weft/detail/future.hpp>
#include <weft/detail/nanoseconds.hpp>
#include <weft/error.hpp>
#include <weft/function.hpp>
#include <weft/handle.hpp>
#include <weft/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
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

namespace detail {

template <class T>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;
template <class T>
inline constexpr bool is_future<shared_future<T>> = true;
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
  static task *state(const Future &f) noexcept {
    return f.m_state;
  }
  template <class Future>
  static task *take(Future &f) noexcept {
    return std::exchange(f.m_state, nullptr);
  }
};

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

/// Calls `f` with the future before it, or with that future's value, whichever it takes.
template <class Before, class F>
struct continuation {
  F f;
  Before before;
  decltype(auto) operator()() {
    if constexpr (std::is_invocable_v<F, Before>) {
      return std::invoke(std::move(f), std::move(before));
    } else if constexpr (std::is_void_v<decltype(before.get())>) {
      before.get();
      return std::invoke(std::move(f));
    } else {
      return std::invoke(std::move(f), before.get());
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
    explicit forward(unwrapping_body *b) noexcept : posting_waiter(&run), body(b) {}
    static void run(call_record *r) noexcept {
      unwrapping_body &body = *static_cast<forward *>(static_cast<posted_call *>(r)->owner)->body;
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
  explicit unwrapping_body(G &&g) : f(static_cast<G &&>(g)) {}
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
  using type = body<Call, R>;
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

/// Launches a callable without parameters.
template <class Call>
auto launch_call(launch policy, Call &&call) {
  using closure = std::decay_t<Call>;
  using result = std::invoke_result_t<closure &>;
  if constexpr (alignof(closure) > k_storage_align) {
    return launch_call(policy, boxed<closure>(static_cast<Call &&>(call)));
  } else {
    using body_type = body<closure, result>;
    task *const t = task_create_tracked(k_ops<body_type>);
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
    return future<result>(t);
  }
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
  future(handle<U> &&h) noexcept // NOLINT: implicit
      : future_base(std::move(h).release()) {}
  explicit future(detail::task *state) noexcept : future_base(state) {} ///< for the library

  /// Waits, and returns the value or rethrows the exception. Afterwards the future refers to
  /// nothing.
  ///
  /// Blocks. Yes.
  /// Errors. As wait(), and future_error broken_promise.
  T get() {
    this->wait();
    return take();
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
  /// accesses order the task among its siblings as of this call.
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
  /// Does the same. A continuation always is a task, whatever the policy.
  template <class F>
  auto then(launch, F &&f) {
    return then(static_cast<F &&>(f));
  }

  /// Returns a future that can be copied, in the place of this one.
  [[nodiscard]] shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

 private:
  T take() {
    struct dropper {
      ~dropper() { f.drop(); }
      future &f;
    } const last{*this};
    if (std::exception_ptr e = detail::task_take_exception(m_state))
      std::rethrow_exception(std::move(e));
    if constexpr (std::is_reference_v<T>)
      return detail::result_in<T>(m_state);
    else if constexpr (!std::is_void_v<T>)
      return std::move(detail::result_in<T>(m_state));
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
  shared_future(future<T> &&f) noexcept // NOLINT: implicit, as in std
      : future_base(detail::future_access::take(f)) {}
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
  /// Does the same. A continuation always is a task, whatever the policy.
  template <class F>
  auto then(launch, F &&f) const {
    return then(static_cast<F &&>(f));
  }

 private:
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
[[nodiscard]] after_clause after(const future<T> &f) noexcept {
  return after_clause(detail::future_access::state(f));
}
/// Does the same for a shared future.
template <class T>
[[nodiscard]] after_clause after(const shared_future<T> &f) noexcept {
  return after_clause(detail::future_access::state(f));
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

namespace detail {

/// Holds what promises of all types do.
class promise_base {
 public:
  promise_base(promise_base &&other) noexcept
      : m_state(std::exchange(other.m_state, nullptr)),
        m_has_future(std::exchange(other.m_has_future, false)) {}
  promise_base &operator=(promise_base &&other) noexcept {
    promise_base gone(std::move(*this));
    m_state = std::exchange(other.m_state, nullptr);
    m_has_future = std::exchange(other.m_has_future, false);
    return *this;
  }
  ~promise_base() {
    if (!m_state)
      return;
    if (m_has_future && state_begin(m_state)) {
      state_fail(m_state,
                 std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
      state_finish(m_state);
      return;
    }
    if (!m_has_future)
      task_drop_handle(m_state); // that of the future
    task_drop_handle(m_state);
  }

  /// Sets an exception as the result.
  ///
  /// Errors. future_error no_state, promise_already_satisfied.
  void set_exception(std::exception_ptr error) {
    state_fail(begin(), std::move(error));
    finish();
  }

 protected:
  explicit promise_base(task *state) noexcept : m_state(state) {}
  task *begin() {
    if (!m_state)
      throw_no_state();
    if (!state_begin(m_state))
      throw std::future_error(std::future_errc::promise_already_satisfied);
    return m_state;
  }
  /// Publishes; the state stays known, so that a second result is refused.
  void finish() {
    task_add_handle(m_state);
    state_finish(m_state);
  }
  task *take_future() {
    if (!m_state)
      throw_no_state();
    if (std::exchange(m_has_future, true))
      throw std::future_error(std::future_errc::future_already_retrieved);
    return m_state;
  }
  task *m_state;
  bool m_has_future = false;
};

} // namespace detail

/// Holds the place of a result that any thread sets once. A promise that goes without a result
/// leaves future_error broken_promise.
///
/// Cost. One allocation.
/// Threads. Any may set the result, also threads that do not use Weft: no code of the user runs on
/// them.
template <class T>
class promise : public detail::promise_base {
 public:
  /// Makes a promise. Errors. out_of_resources; bad_setting when it starts Weft.
  promise() : promise_base(detail::make_state<T>("promise")) {}
  /// Makes a promise as std's does; Weft allocates the state itself.
  template <class Allocator>
  promise(std::allocator_arg_t, const Allocator &) : promise() {}

  /// Returns the future of the result. Once.
  ///
  /// Errors. future_error no_state, future_already_retrieved.
  [[nodiscard]] future<T> get_future() { return future<T>(this->take_future()); }
  /// Sets the value. What its construction throws leaves the promise as it was.
  ///
  /// Errors. future_error no_state, promise_already_satisfied.
  template <class... Args>
    requires(std::is_void_v<T> ? sizeof...(Args) == 0 : sizeof...(Args) == 1)
  void set_value(Args &&...args) {
    detail::task *const t = this->begin();
    if constexpr (!std::is_void_v<T>) {
      auto *const body = static_cast<detail::state_body<T> *>(detail::storage(t));
      auto make = [&]() -> T { return (static_cast<Args &&>(args), ...); };
      try {
        body->result.make(make);
      } catch (...) {
        detail::state_give_up(t);
        throw;
      }
      body->has_result = true;
    }
    this->finish();
  }
  /// Exchanges two promises.
  void swap(promise &other) noexcept { std::swap(*this, other); }
};

/// Holds a callable whose call sets the result of a future.
template <class Signature>
class packaged_task;
/// Holds a callable of this signature.
template <class R, class... Args>
class packaged_task<R(Args...)> {
 public:
  packaged_task() noexcept = default;
  /// Takes over or copies `f`.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task> &&
             std::is_invocable_v<std::decay_t<F> &, Args...>)
  explicit packaged_task(F &&f)
      : m_call(std::make_unique<model<std::decay_t<F>>>(static_cast<F &&>(f))),
        m_result(new_one()) {}
  [[nodiscard]] bool valid() const noexcept { return m_call != nullptr; } ///< holds a callable
  /// Returns the future of the call.
  ///
  /// Errors. future_error no_state, future_already_retrieved.
  [[nodiscard]] future<R> get_future() { return require().get_future(); }
  /// Calls, and keeps what the callable returns or throws.
  ///
  /// Errors. future_error no_state, promise_already_satisfied.
  void operator()(Args... args) {
    promise<R> &result = require();
    if (m_called)
      throw std::future_error(std::future_errc::promise_already_satisfied);
    m_called = true;
    try {
      if constexpr (std::is_void_v<R>) {
        m_call->call(std::forward<Args>(args)...);
        result.set_value();
      } else {
        result.set_value(m_call->call(std::forward<Args>(args)...));
      }
    } catch (...) {
      result.set_exception(std::current_exception());
    }
  }
  /// Makes the object new: with the same callable and another future.
  void reset() {
    require();
    m_result = new_one();
    m_called = false;
  }
  void swap(packaged_task &other) noexcept { std::swap(*this, other); } ///< exchanges two of them

 private:
  struct callable {
    virtual ~callable() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct model final : callable {
    template <class G>
    explicit model(G &&g) : f(static_cast<G &&>(g)) {}
    R call(Args... args) override { return std::invoke(f, std::forward<Args>(args)...); }
    F f;
  };
  static std::unique_ptr<promise<R>> new_one() { return std::make_unique<promise<R>>(); }
  promise<R> &require() {
    if (!m_result)
      detail::throw_no_state();
    return *m_result;
  }
  std::unique_ptr<callable> m_call;
  std::unique_ptr<promise<R>> m_result;
  bool m_called = false;
};

/// @{ Returns a future whose result is there.
template <class T>
[[nodiscard]] future<std::decay_t<T>> make_ready_future(T &&value) {
  promise<std::decay_t<T>> p;
  p.set_value(static_cast<T &&>(value));
  return p.get_future();
}
[[nodiscard]] inline future<void> make_ready_future() {
  promise<void> p;
  p.set_value();
  return p.get_future();
}
template <class T>
[[nodiscard]] future<T> make_exceptional_future(std::exception_ptr error) {
  promise<T> p;
  p.set_exception(std::move(error));
  return p.get_future();
}
template <class T, class E>
  requires(!std::is_same_v<std::decay_t<E>, std::exception_ptr>)
[[nodiscard]] future<T> make_exceptional_future(E &&error) {
  return make_exceptional_future<T>(std::make_exception_ptr(static_cast<E &&>(error)));
}
/// @}

// ---- several futures

namespace detail {

template <class Result>
struct all_body : state_body<Result> {
  std::atomic<std::uint32_t> left{0};
  std::unique_ptr<part_node[]> nodes;
  static void destroy_result(void *p) noexcept {
    auto *const self = static_cast<all_body *>(p);
    state_body<Result>::destroy_result(p);
    self->nodes.reset();
  }
  static constexpr body_ops ops{nullptr, nullptr, &destroy_result, true, 0};
};

/// Calls f(task) for each future in a tuple or in a range.
template <class Futures, class F>
void for_each_state(const Futures &futures, F f) {
  if constexpr (is_future_range<Futures>)
    for (const auto &each : futures)
      f(future_access::state(each));
  else
    std::apply([&](const auto &...each) { (f(future_access::state(each)), ...); }, futures);
}
template <class Futures>
std::size_t number_of_futures(const Futures &futures) noexcept {
  if constexpr (is_future_range<Futures>)
    return futures.size();
  else
    return std::tuple_size_v<Futures>;
}
/// Makes sure that all futures have a state that will end.
template <class Futures>
void require_all(const Futures &futures) {
  for_each_state(futures, [](task *t) {
    if (!t)
      throw_no_state();
    task_start(t);
  });
}

template <class Body, class Result>
task *make_combined(const char *label, Result &&result, std::size_t nodes) {
  auto room =
      std::make_unique<std::remove_extent_t<typename decltype(Body::nodes)::element_type>[]>(nodes);
  task *const t = state_create(k_state_ops<Body>, label);
  auto *const body = ::new (storage(t)) Body;
  body->nodes = std::move(room);
  const auto take = [&]() -> std::remove_cvref_t<Result> { return static_cast<Result &&>(result); };
  body->result.make(take); // moves futures and vectors: throws nothing
  body->has_result = true;
  return t;
}

template <class Futures>
future<Futures> all_of(Futures &&futures) {
  require_all(futures);
  const std::size_t count = number_of_futures(futures);
  using body_type = all_body<Futures>;
  task *const t = make_combined<body_type>("when_all", std::move(futures), count);
  auto *const body = static_cast<body_type *>(storage(t));
  std::size_t i = 0;
  for_each_state(body->result.get(), [&](task *before) { body->nodes[i++].before = before; });
  future<Futures> result(t);
  state_finish_after_all(t, body->nodes.get(), count, body->left);
  return result;
}

} // namespace detail

/// Holds the result of when_any(): the number of the future that was ready first, and all of them.
template <class Futures>
struct when_any_result {
  std::size_t index = static_cast<std::size_t>(-1); ///< -1 for no futures
  Futures futures; ///< in their order
};
/// Holds the result of when_some(): the numbers of the futures that were ready, in that order.
template <class Futures>
struct when_some_result {
  std::vector<std::size_t> indices; ///< as many as were asked for
  Futures futures; ///< in their order
};
/// Makes when_any() and when_some() ask the other tasks to stop: future::request_stop().
struct cancel_rest_t {};
inline constexpr cancel_rest_t cancel_rest{}; ///< the tag itself

namespace detail {

template <class Futures>
struct some_body : state_body<when_some_result<Futures>> {
  choice chosen;
  std::unique_ptr<choice::node[]> nodes;
  static void destroy_result(void *p) noexcept {
    auto *const self = static_cast<some_body *>(p);
    state_body<when_some_result<Futures>>::destroy_result(p);
    self->nodes.reset();
  }
  static constexpr body_ops ops{nullptr, nullptr, &destroy_result, true, 0};
};

template <class Futures>
future<when_some_result<Futures>> some_of(std::size_t needed, bool cancels, Futures &&futures) {
  require_all(futures);
  const std::size_t count = number_of_futures(futures);
  if (needed > count)
    throw_too_many(needed, count);
  using body_type = some_body<Futures>;
  std::vector<std::size_t> indices(needed);
  task *const t = make_combined<body_type>(
      "when_some", when_some_result<Futures>{std::move(indices), std::move(futures)}, count);
  auto *const body = static_cast<body_type *>(storage(t));
  when_some_result<Futures> &all = body->result.get();
  std::size_t i = 0;
  for_each_state(all.futures, [&](task *before) { body->nodes[i++].before = before; });
  choice &c = body->chosen;
  c.whole = t;
  c.nodes = body->nodes.get();
  c.winners = all.indices.data();
  c.count = static_cast<std::uint32_t>(count);
  c.needed = static_cast<std::uint32_t>(needed);
  c.cancels = cancels;
  future<when_some_result<Futures>> result(t);
  state_finish_after_some(c);
  return result;
}

template <class Futures>
future<when_any_result<Futures>> any_of(bool cancels, Futures &&futures) {
  const std::size_t needed = number_of_futures(futures) == 0 ? 0 : 1;
  return some_of(needed, cancels, std::move(futures)).then([](when_some_result<Futures> some) {
    return when_any_result<Futures>{some.indices.empty() ? static_cast<std::size_t>(-1)
                                                         : some.indices[0],
                                    std::move(some.futures)};
  });
}

template <class Iterator>
auto gather(Iterator first, Iterator last) {
  using each = typename std::iterator_traits<Iterator>::value_type;
  std::vector<each> all;
  for (; first != last; ++first)
    if constexpr (std::is_copy_constructible_v<each>)
      all.push_back(*first);
    else
      all.push_back(std::move(*first));
  return all;
}
template <class Iterator>
auto gather_n(Iterator first, std::size_t n) {
  using each = typename std::iterator_traits<Iterator>::value_type;
  std::vector<each> all;
  for (; n != 0; --n, ++first)
    if constexpr (std::is_copy_constructible_v<each>)
      all.push_back(*first);
    else
      all.push_back(std::move(*first));
  return all;
}

template <class... Futures>
concept futures_only = (is_future<std::remove_cvref_t<Futures>> && ...);
template <class Iterator>
concept iterates_futures = is_future<typename std::iterator_traits<Iterator>::value_type>;

} // namespace detail

/// @{ Returns a future that is ready when all of these are. Its value holds them, as a tuple or as a
/// vector; futures are moved, shared futures copied. Exceptions stay in them.
///
/// Cost. Two allocations. No task.
/// Errors. future_error no_state; out_of_resources.
template <class... Futures>
  requires detail::futures_only<Futures...>
auto when_all(Futures &&...futures) {
  return detail::all_of(
      std::tuple<std::remove_cvref_t<Futures>...>(static_cast<Futures &&>(futures)...));
}
template <class Future>
  requires detail::is_future<Future>
auto when_all(std::vector<Future> futures) {
  return detail::all_of(std::move(futures));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_all(Iterator first, Iterator last) {
  return detail::all_of(detail::gather(first, last));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_all_n(Iterator first, std::size_t n) {
  return detail::all_of(detail::gather_n(first, n));
}
/// @}

/// @{ Returns a future that is ready when one of these is, with its number. The others go on, and
/// forget about it; with cancel_rest they are asked to stop.
///
/// Cost. Four allocations, one task.
/// Errors. As when_all().
template <class... Futures>
  requires detail::futures_only<Futures...>
auto when_any(Futures &&...futures) {
  return detail::any_of(
      false, std::tuple<std::remove_cvref_t<Futures>...>(static_cast<Futures &&>(futures)...));
}
template <class... Futures>
  requires detail::futures_only<Futures...>
auto when_any(cancel_rest_t, Futures &&...futures) {
  return detail::any_of(
      true, std::tuple<std::remove_cvref_t<Futures>...>(static_cast<Futures &&>(futures)...));
}
template <class Future>
  requires detail::is_future<Future>
auto when_any(std::vector<Future> futures) {
  return detail::any_of(false, std::move(futures));
}
template <class Future>
  requires detail::is_future<Future>
auto when_any(cancel_rest_t, std::vector<Future> futures) {
  return detail::any_of(true, std::move(futures));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_any(Iterator first, Iterator last) {
  return detail::any_of(false, detail::gather(first, last));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_any_n(Iterator first, std::size_t n) {
  return detail::any_of(false, detail::gather_n(first, n));
}
/// @}

/// @{ Returns a future that is ready when `n` of these are, with their numbers.
///
/// Errors. As when_all(); invalid_argument for more than there are.
template <class... Futures>
  requires detail::futures_only<Futures...>
auto when_some(std::size_t n, Futures &&...futures) {
  return detail::some_of(
      n, false, std::tuple<std::remove_cvref_t<Futures>...>(static_cast<Futures &&>(futures)...));
}
template <class Future>
  requires detail::is_future<Future>
auto when_some(std::size_t n, std::vector<Future> futures) {
  return detail::some_of(n, false, std::move(futures));
}
template <class Future>
  requires detail::is_future<Future>
auto when_some(cancel_rest_t, std::size_t n, std::vector<Future> futures) {
  return detail::some_of(n, true, std::move(futures));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_some(std::size_t n, Iterator first, Iterator last) {
  return detail::some_of(n, false, detail::gather(first, last));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_some_n(std::size_t n, Iterator first, std::size_t count) {
  return detail::some_of(n, false, detail::gather_n(first, count));
}
/// @}

namespace detail {

template <class F, class Future>
void call_for_each(F &f, std::size_t i, Future &&each) {
  if constexpr (std::is_invocable_v<F &, std::size_t, Future>)
    std::invoke(f, i, static_cast<Future &&>(each));
  else
    std::invoke(f, static_cast<Future &&>(each));
}

/// Calls `f` for the futures, one after the other, in the order in which they become ready.
template <class F, class Futures>
auto each_of(F &&f, Futures &&futures) {
  require_all(futures);
  return launch_call(launch::async, [f = std::decay_t<F>(static_cast<F &&>(f)),
                                     futures = std::move(futures)]() mutable {
    char turn = 0; // its tasks take turns
    std::size_t i = 0;
    const auto spawn_one = [&](auto &each) {
      task *const before = future_access::state(each);
      spawn([&f, &each, n = i++] { call_for_each(f, n, std::move(each)); },
            access(&turn, access_mode::commutative), after_clause(before), label("when_each"));
    };
    if constexpr (is_future_range<Futures>)
      for (auto &each : futures)
        spawn_one(each);
    else
      std::apply([&](auto &...each) { (spawn_one(each), ...); }, futures);
    taskwait();
  });
}

} // namespace detail

/// @{ Calls f(future) or f(number, future) for each of these, one call at a time, in the order in
/// which they become ready. The result is ready after the last call; it has the first exception of a
/// call.
///
/// Errors. As when_all().
template <class F, class... Futures>
  requires(sizeof...(Futures) > 0 && detail::futures_only<Futures...>)
future<void> when_each(F &&f, Futures &&...futures) {
  return detail::each_of(static_cast<F &&>(f), std::tuple<std::remove_cvref_t<Futures>...>(
                                                   static_cast<Futures &&>(futures)...));
}
template <class F, class Future>
  requires detail::is_future<Future>
future<void> when_each(F &&f, std::vector<Future> futures) {
  return detail::each_of(static_cast<F &&>(f), std::move(futures));
}
template <class F, class Iterator>
  requires detail::iterates_futures<Iterator>
future<void> when_each(F &&f, Iterator first, Iterator last) {
  return detail::each_of(static_cast<F &&>(f), detail::gather(first, last));
}
template <class F, class Iterator>
  requires detail::iterates_futures<Iterator>
future<void> when_each_n(F &&f, Iterator first, std::size_t n) {
  return detail::each_of(static_cast<F &&>(f), detail::gather_n(first, n));
}
/// @}

namespace detail {

/// Turns an argument of dataflow() into what is kept and what is waited for.
template <class A>
decltype(auto) as_awaited(A &&argument) {
  if constexpr (is_future_range<std::remove_cvref_t<A>>)
    return when_all(std::remove_cvref_t<A>(static_cast<A &&>(argument)));
  else
    return static_cast<A &&>(argument);
}
template <bool Range, class A>
decltype(auto) as_given(A &argument) {
  if constexpr (Range)
    return argument.get();
  else
    return std::move(argument);
}

template <class F, class Kept, bool... Ranges>
struct data_call {
  F f;
  Kept arguments;
  decltype(auto) operator()() {
    return std::apply(
        [this](auto &...a) -> decltype(auto) {
          return std::invoke(std::move(f), as_given<Ranges>(a)...);
        },
        arguments);
  }
};

/// Returns a clause for an argument that is waited for; any other one takes no place.
template <class A>
auto after_of(const A &argument) {
  if constexpr (is_future<A>) {
    if (!argument.valid())
      throw_no_state();
    return std::tuple(after_clause(future_access::state(argument)));
  } else {
    return std::tuple();
  }
}

} // namespace detail

/// Makes a task that calls `f` with these arguments when all futures among them are ready. `f` gets
/// the futures themselves, a vector of futures as such, and other arguments as they are; see
/// unwrapping(). Returns the future of what `f` returns, unwrapped.
///
/// Cost. One allocation, and two for a vector.
/// Errors. future_error no_state; else as spawn().
template <class F, class... Args>
  requires(!std::is_same_v<std::decay_t<F>, launch>)
auto dataflow(F &&f, Args &&...args) {
  using kept = std::tuple<std::decay_t<decltype(detail::as_awaited(std::declval<Args>()))>...>;
  using call = detail::data_call<std::decay_t<F>, kept,
                                 detail::is_future_range<std::remove_cvref_t<Args>>...>;
  call made{static_cast<F &&>(f), kept(detail::as_awaited(static_cast<Args &&>(args))...)};
  auto clauses =
      std::apply([](const auto &...each) { return std::tuple_cat(detail::after_of(each)...); },
                 made.arguments);
  return std::apply(
      [&](const auto &...each) { return detail::spawn_continuation(std::move(made), each...); },
      clauses);
}
/// Does the same. The call always is a task, whatever the policy.
template <class F, class... Args>
auto dataflow(launch, F &&f, Args &&...args) {
  return dataflow(static_cast<F &&>(f), static_cast<Args &&>(args)...);
}

namespace detail {

template <class A>
auto unwrap_one(A &&argument) {
  using type = std::remove_cvref_t<A>;
  if constexpr (is_future<type>) {
    if constexpr (std::is_void_v<typename type::value_type>) {
      argument.get();
      return std::tuple();
    } else {
      return std::tuple<std::decay_t<typename type::value_type>>(argument.get());
    }
  } else if constexpr (is_future_range<type>) {
    using value = typename type::value_type::value_type;
    if constexpr (std::is_void_v<value>) {
      for (auto &each : argument)
        each.get();
      return std::tuple();
    } else {
      std::vector<value> values;
      values.reserve(argument.size());
      for (auto &each : argument)
        values.push_back(each.get());
      return std::tuple<std::vector<value>>(std::move(values));
    }
  } else {
    return std::tuple<type>(static_cast<A &&>(argument));
  }
}

} // namespace detail

/// Returns a callable that takes futures and calls `f` with their values: for then() and
/// dataflow().
template <class F>
auto unwrapping(F &&f) {
  return [f = std::decay_t<F>(static_cast<F &&>(f))](auto &&...args) mutable -> decltype(auto) {
    return std::apply(f, std::tuple_cat(detail::unwrap_one(static_cast<decltype(args)>(args))...));
  };
}

/// Runs `f` as an independent task, for which nothing waits but the end of the program: see
/// spawn_function().
template <plain_callable F>
void post(F &&f) {
  spawn_function(static_cast<F &&>(f));
}

} // namespace weft::inline v0

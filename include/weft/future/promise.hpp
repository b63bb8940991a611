// SPDX-License-Identifier: Apache-2.0
// Promises: results that any thread sets, and callables that set one.
#pragma once

#include <weft/future/future.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

namespace detail {

/// Holds what promises of all types do.
class promise_base {
 public:
  promise_base(promise_base &&other) noexcept
      : m_state(std::exchange(other.m_state, nullptr)),
        m_has_future(std::exchange(other.m_has_future, false)),
        m_is_kept(std::exchange(other.m_is_kept, false)) {}
  promise_base &operator=(promise_base &&other) noexcept {
    promise_base gone(std::move(*this));
    m_state = std::exchange(other.m_state, nullptr);
    m_has_future = std::exchange(other.m_has_future, false);
    m_is_kept = std::exchange(other.m_is_kept, false);
    return *this;
  }
  ~promise_base() {
    if (!m_state)
      return;
    if (m_has_future && !m_is_kept && state_begin(m_state)) {
      state_break(m_state);
      return;
    }
    if (!m_has_future)
      task_drop_handle(m_state); // that of the future
    task_drop_handle(m_state);
  }

  /// Sets an exception as the result.
  ///
  /// Errors. future_error no_state, promise_already_satisfied; invalid_argument for null.
  void set_exception(std::exception_ptr error) {
    if (!error)
      throw_no_exception();
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
  /// Publishes; the state stays known, so that a second result is refused. A waiter may destroy the
  /// promise when it sees the result.
  void finish() {
    m_is_kept = true;
    state_publish(m_state);
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
  bool m_is_kept = false;
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
  /// Sets the value: of anything that makes a T, also of a list in braces, as std's promise does.
  /// What its construction throws leaves the promise as it was.
  ///
  /// Errors. future_error no_state, promise_already_satisfied.
  template <class From = T>
    requires(!std::is_void_v<From>)
  void set_value(From &&value) {
    detail::task *const t = this->begin();
    auto *const body = static_cast<detail::state_body<T> *>(detail::storage(t));
    auto make = [&]() -> T { return static_cast<From &&>(value); };
    try {
      body->result.make(make);
    } catch (...) {
      detail::state_give_up(t);
      throw;
    }
    body->has_result = true;
    this->finish();
  }
  /// Sets the result of a promise of nothing. Errors. As above.
  void set_value()
    requires(std::is_void_v<T>)
  {
    this->begin();
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
  /// Does the same as the standard's of C++11; Weft allocates by itself.
  template <class Allocator, class F>
  packaged_task(std::allocator_arg_t, const Allocator &, F &&f)
      : packaged_task(static_cast<F &&>(f)) {}
  [[nodiscard]] bool valid() const noexcept { return m_call != nullptr; } ///< holds a callable
  /// Returns the future of the call.
  ///
  /// Errors. future_error no_state, future_already_retrieved.
  [[nodiscard]] future<R> get_future() { return require().get_future(); }
  /// Calls, and keeps what the callable returns or throws. If it ends the thread by pthread_exit(), the
  /// result is future_error broken_promise.
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
      std::exception_ptr thrown = std::current_exception();
      if (thrown)
        return result.set_exception(std::move(thrown));
      result.set_exception(
          std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
      throw; // no C++ exception: pthread_exit() or pthread_cancel() ends the thread
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
    explicit model(G &&callable) : f(static_cast<G &&>(callable)) {}
    R call(Args... args) override {
      if constexpr (std::is_void_v<R>)
        std::invoke(f, std::forward<Args>(args)...); // what it returns is dropped
      else
        return std::invoke(f, std::forward<Args>(args)...);
    }
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

namespace detail {

/// Names the signature of a callable whose call operator is no template.
template <class Call>
struct signature_of;
/// @cond
#define WEFT_SIGNATURE(qualifiers)                                                                 \
  template <class F, class R, class... Args>                                                       \
  struct signature_of<R (F::*)(Args...) qualifiers> {                                              \
    using type = R(Args...);                                                                       \
  };
WEFT_SIGNATURE()
WEFT_SIGNATURE(const)
WEFT_SIGNATURE(&)
WEFT_SIGNATURE(const &)
WEFT_SIGNATURE(noexcept)
WEFT_SIGNATURE(const noexcept)
WEFT_SIGNATURE(& noexcept)
WEFT_SIGNATURE(const & noexcept)
#undef WEFT_SIGNATURE
/// @endcond

} // namespace detail

/// @{ Deduces the signature from a function, or from a callable with one call operator.
template <class R, class... Args>
packaged_task(R (*)(Args...)) -> packaged_task<R(Args...)>;
template <class F, class Signature = typename detail::signature_of<decltype(&F::operator())>::type>
packaged_task(F) -> packaged_task<Signature>;
/// @}

/// @{ Returns a future whose result is there. With a type the result is made of the arguments:
/// make_ready_future<double>(1), make_ready_future<T &>(object).
template <int &..., class T>
[[nodiscard]] future<std::decay_t<T>> make_ready_future(T &&value) {
  promise<std::decay_t<T>> p;
  p.set_value(static_cast<T &&>(value));
  return p.get_future();
}
template <class T, class... Args>
  requires std::is_constructible_v<T, Args...>
[[nodiscard]] future<T> make_ready_future(Args &&...args) {
  promise<T> p;
  if constexpr (std::is_reference_v<T>)
    p.set_value(static_cast<Args &&>(args)...);
  else
    p.set_value(T(static_cast<Args &&>(args)...));
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

} // namespace weft::inline v0

/// @cond
template <class T, class Allocator>
struct std::uses_allocator<weft::promise<T>, Allocator> : std::true_type {};
template <class Signature, class Allocator>
struct std::uses_allocator<weft::packaged_task<Signature>, Allocator> : std::true_type {};
/// @endcond

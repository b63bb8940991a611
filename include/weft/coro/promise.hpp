// SPDX-License-Identifier: Apache-2.0
// What the coroutines of weft/coro.hpp are made of. Not for users: it changes with the version.
#pragma once

#include <weft/detail/coro.hpp>
#include <weft/detail/future.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

template <class T>
class task;

namespace detail {

/// Returns what co_await asks for the result of `awaitable`, as the standard says.
template <class A>
decltype(auto) awaiter_of(A &&awaitable) {
  if constexpr (requires { static_cast<A &&>(awaitable).operator co_await(); })
    return static_cast<A &&>(awaitable).operator co_await();
  else if constexpr (requires { operator co_await(static_cast<A &&>(awaitable)); })
    return operator co_await(static_cast<A &&>(awaitable));
  else
    return static_cast<A &&>(awaitable);
}
/// Names what holds that: a reference, unless a new object was returned.
template <class A>
using held_awaiter = decltype(awaiter_of(std::declval<A>()));

/// Is an awaiter of this library, or one that does not suspend.
template <class Awaiter>
inline constexpr bool is_own_awaiter =
    is_coro_awaiter<Awaiter> || std::is_same_v<Awaiter, std::suspend_never>;

/// Lets a coroutine wait for what another library resumes. That library gets a coroutine whose only
/// act is to enqueue the task, so that it resumes nothing on its own thread.
struct proxy {
  struct promise_type {
    static void *operator new(std::size_t bytes) { return coro_allocate(bytes); }
    static void operator delete(void *frame) noexcept { coro_free(frame); }
    proxy get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; } // its frame goes
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};
/// Is resumed by the other library.
struct proxy_signal {
  std::atomic<void *> word{nullptr};
};
WEFT_API void coro_signal(proxy_signal &signal) noexcept;
WEFT_API void coro_leave_for_signal(void *awaiter) noexcept;
inline proxy make_proxy(proxy_signal *signal) {
  coro_signal(*signal);
  co_return;
}

struct outside_base : coro_awaiter {
  proxy_signal signal;
};

/// Awaits what another library resumes. An awaiter that exists is used where it is: others may know it,
/// and not each can be copied.
template <class Held>
struct outside_awaiter : outside_base {
  Held inner;

  template <class A>
  explicit outside_awaiter(A &&awaitable) : inner(awaiter_of(static_cast<A &&>(awaitable))) {}
  outside_awaiter(const outside_awaiter &) = delete;
  outside_awaiter &operator=(const outside_awaiter &) = delete;
  ~outside_awaiter() = default;

  bool await_ready() { return static_cast<bool>(inner.await_ready()); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) {
    this->begin_wait(handle);
    if (!suspend_inner())
      return false;
    this->end_wait(handle, &coro_leave_for_signal, static_cast<outside_base *>(this));
    return true;
  }
  decltype(auto) await_resume() { return inner.await_resume(); }

 private:
  bool suspend_inner() {
    const std::coroutine_handle<proxy::promise_type> other = make_proxy(&this->signal).handle;
    bool suspends = true;
    try {
      if constexpr (std::is_void_v<decltype(inner.await_suspend(other))>) {
        inner.await_suspend(other);
      } else if constexpr (std::is_same_v<decltype(inner.await_suspend(other)), bool>) {
        suspends = inner.await_suspend(other);
      } else {
        const std::coroutine_handle<> next = inner.await_suspend(other);
        suspends = next != other;
        if (suspends)
          next.resume();
      }
    } catch (...) {
      other.destroy();
      throw;
    }
    if (!suspends)
      other.destroy();
    return suspends;
  }
};

/// Refers to an awaiter of this library: GCC 12 copies what await_transform() returns a reference to.
template <class Awaiter>
struct awaited_in_place {
  Awaiter &inner;
  bool await_ready() { return inner.await_ready(); }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> handle) {
    return inner.await_suspend(handle);
  }
  decltype(auto) await_resume() { return inner.await_resume(); }
};

/// Holds what the promises of all coroutines of this library have.
struct coro_promise_base : coro_link {
  // A compiler knows the size of a frame, so it chooses.
  static void *operator new(std::size_t bytes) {
    return bytes <= k_most_kept ? coro_allocate_kept(bytes) : coro_allocate(bytes);
  }
  static void operator delete(void *frame, std::size_t bytes) noexcept {
    if (bytes <= k_most_kept)
      coro_keep(frame, bytes);
    else
      coro_free(frame);
  }

  struct final_awaiter {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      const coro_link &ended = handle.promise();
      coro_root &here = *ended.root;
      here.at = ended.caller;
      if (!here.at)
        here.leave = &coro_over;
    }
    static void await_resume() noexcept {}
  };
  static final_awaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() {
    error = std::current_exception();
    if (!error)
      throw; // no C++ exception: pthread_exit() or pthread_cancel() ends the thread
  }

  template <class A>
  decltype(auto) await_transform(A &&awaitable) {
    using awaiter = std::remove_cvref_t<held_awaiter<A>>;
    static_assert(
        requires(awaiter &w) { w.await_ready(); },
        "co_await takes an awaitable; of a weft::task write co_await std::move(t), once");
    if constexpr (is_coro_awaiter<std::remove_cvref_t<A>>)
      return awaited_in_place<std::remove_cvref_t<A>>{awaitable};
    else if constexpr (is_own_awaiter<awaiter>)
      return static_cast<A &&>(awaitable);
    else
      return outside_awaiter<held_awaiter<A>>(static_cast<A &&>(awaitable));
  }

  std::exception_ptr error;
};

/// Creates the task of a coroutine that returns a future, and begins it on the caller's stack.
[[nodiscard]] WEFT_API task *coro_create_future(const body_ops &ops);
WEFT_API void coro_begin_future(task *t);

/// Is the promise of a coroutine that returns a T.
template <class T>
struct coro_promise : coro_promise_base {
  result_of<T> result;
  bool has_result = false;

  coro_promise() noexcept = default;
  coro_promise(const coro_promise &) = delete;
  coro_promise &operator=(const coro_promise &) = delete;
  ~coro_promise() {
    if (has_result)
      result.destroy();
  }
  template <class U = T>
    requires std::is_convertible_v<U &&, T>
  void return_value(U &&value) {
    auto make = [&]() -> T { return static_cast<U &&>(value); };
    result.make(make);
    has_result = true;
  }
  /// Moves the result out, or throws the exception.
  T take() {
    if (error)
      std::rethrow_exception(std::exchange(error, nullptr));
    if constexpr (std::is_reference_v<T>)
      return static_cast<T>(result.get());
    else
      return std::move(result.get());
  }
};
template <>
struct coro_promise<void> : coro_promise_base {
  static void return_void() noexcept {}
  void take() {
    if (error)
      std::rethrow_exception(std::exchange(error, nullptr));
  }
};

/// Owns a coroutine that is over, or has not begun.
template <class T>
struct owned_coroutine {
  coro_promise<T> *promise = nullptr;
  owned_coroutine() noexcept = default;
  explicit owned_coroutine(coro_promise<T> *owned) noexcept : promise(owned) {}
  owned_coroutine(owned_coroutine &&other) noexcept
      : promise(std::exchange(other.promise, nullptr)) {}
  owned_coroutine &operator=(owned_coroutine &&) = delete;
  ~owned_coroutine() {
    if (promise)
      std::coroutine_handle<>::from_address(promise->frame).destroy();
  }
};

/// Holds a callable that returns a coroutine, and the trampoline of that: the body of a task.
template <class F, class T>
struct coro_body_base {
  F f;
  coro_promise<T> *running = nullptr;
  coro_root root;
  template <class G>
  explicit coro_body_base(G &&callable) : f(static_cast<G &&>(callable)) {}

  /// Returns whether the coroutine is over.
  bool run() {
    if (!running) {
      running = f().release();
      if (!running)
        throw_no_coroutine();
      running->root = &root;
      root.at = running;
    }
    return coro_run(root);
  }
};
template <class F, class T>
struct coro_body {
  result_of<T> result; // first: a handle finds it
  coro_body_base<F, T> base;
  bool has_result = false;
  template <class G>
  explicit coro_body(G &&callable) : base(static_cast<G &&>(callable)) {}
  ~coro_body() {}

  static void invoke(void *p) {
    auto *const self = static_cast<coro_body *>(p);
    if (!self->base.run())
      return;
    const owned_coroutine<T> over(std::exchange(self->base.running, nullptr));
    auto take = [&]() -> T { return over.promise->take(); };
    self->result.make(take);
    self->has_result = true;
  }
  static void destroy(void *p) noexcept { static_cast<coro_body *>(p)->base.f.~F(); }
  static void destroy_result(void *p) noexcept {
    auto *const self = static_cast<coro_body *>(p);
    if (self->has_result)
      self->result.destroy();
  }
  static constexpr bool k_trivial = std::is_trivially_destructible_v<F>;
  static constexpr body_ops ops{
      &invoke, k_trivial ? nullptr : &destroy, &destroy_result, true, sizeof(F), closure_name<F>()};
};
template <class F>
struct coro_body<F, void> {
  coro_body_base<F, void> base;
  template <class G>
  explicit coro_body(G &&callable) : base(static_cast<G &&>(callable)) {}

  static void invoke(void *p) {
    auto *const self = static_cast<coro_body *>(p);
    if (self->base.run())
      owned_coroutine<void>(std::exchange(self->base.running, nullptr)).promise->take();
  }
  static void destroy(void *p) noexcept { static_cast<coro_body *>(p)->base.f.~F(); }
  static constexpr bool k_trivial = std::is_trivially_destructible_v<F>;
  static constexpr body_ops ops{
      &invoke, k_trivial ? nullptr : &destroy, nullptr, !k_trivial, sizeof(F), closure_name<F>()};
};

template <class F, class T>
struct body_of<F, weft::task<T>> {
  using type = coro_body<F, T>;
  using value = T;
  static constexpr bool is_coroutine = true;
};

} // namespace detail
} // namespace weft::inline v0

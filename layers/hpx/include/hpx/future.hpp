// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: futures, their combinations, async, post, dataflow.
#pragma once

#include <hpx/config.hpp>
#include <weft/future.hpp>
#include <weft/task.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

using weft::future;
using weft::future_errc;
using weft::future_error;
using weft::future_status;
using weft::launch;
using weft::make_exceptional_future;
using weft::packaged_task;
using weft::promise;
using weft::shared_future;
using weft::unwrapping;
using weft::when_any_result;
using weft::when_some_result;
template <class... T>
using tuple = std::tuple<T...>;
using std::forward_as_tuple;
using std::get;
using std::ignore;
using std::make_tuple;
using std::tie;
using std::tuple_cat;
using std::tuple_element;
using std::tuple_size;

namespace detail {

template <class T>
inline constexpr bool is_unique = false;
template <class T>
inline constexpr bool is_unique<future<T>> = true;
template <class T>
inline constexpr bool is_unique_range = false;
template <class T, class A>
inline constexpr bool is_unique_range<std::vector<future<T>, A>> = true;
template <class T>
inline constexpr bool is_unique_several = false;
template <class T, std::size_t N>
inline constexpr bool is_unique_several<std::array<future<T>, N>> = true;
template <class... T>
inline constexpr bool is_unique_several<std::tuple<T...>> = (is_unique<T> || ...);

/// Takes futures that the caller names over, as HPX does, and passes all else on. A vector keeps its
/// length.
template <class A>
decltype(auto) acquire(A &&given) {
  using given_type = std::remove_reference_t<A>;
  if constexpr (is_unique<given_type> || is_unique_several<given_type>)
    return std::move(given);
  else if constexpr (is_unique_range<std::remove_reference_t<A>>)
    return std::remove_reference_t<A>(std::make_move_iterator(given.begin()),
                                      std::make_move_iterator(given.end()));
  else
    return static_cast<A &&>(given);
}

template <class F>
inline constexpr bool is_launch = std::is_same_v<std::decay_t<F>, launch>;

} // namespace detail

// ---- tasks

using weft::async;
using weft::sync;

/// Runs a call as a task for which the caller does not wait.
template <class F, class... Args>
  requires(!detail::is_launch<F>)
void post(F &&f, Args &&...args) {
  weft::spawn([call = weft::detail::bind_call(
                   static_cast<F &&>(f), static_cast<Args &&>(args)...)]() mutable { call(); });
}
template <class F, class... Args>
void post(launch, F &&f, Args &&...args) {
  hpx::post(static_cast<F &&>(f), static_cast<Args &&>(args)...);
}
/// Is post() under its former name.
template <class F, class... Args>
void apply(F &&f, Args &&...args) {
  hpx::post(static_cast<F &&>(f), static_cast<Args &&>(args)...);
}
// Objects, so that a call without `hpx::` does not find Weft's function of that name, too.

namespace detail {

struct dataflow_t {
  template <class F, class... Args>
    requires(!is_launch<F>)
  auto operator()(F &&f, Args &&...args) const {
    return weft::dataflow(static_cast<F &&>(f), acquire(static_cast<Args &&>(args))...);
  }
  template <class F, class... Args>
  auto operator()(launch how, F &&f, Args &&...args) const {
    return weft::dataflow(how, static_cast<F &&>(f), acquire(static_cast<Args &&>(args))...);
  }
};
struct when_all_t {
  template <class... Args>
  auto operator()(Args &&...args) const {
    if constexpr (sizeof...(Args) == 0)
      return weft::make_ready_future(std::tuple<>());
    else
      return weft::when_all(acquire(static_cast<Args &&>(args))...);
  }
};
struct when_any_t {
  template <class... Args>
  auto operator()(Args &&...args) const {
    return weft::when_any(acquire(static_cast<Args &&>(args))...);
  }
};
struct when_some_t {
  template <class... Args>
  auto operator()(std::size_t n, Args &&...args) const {
    return weft::when_some(n, acquire(static_cast<Args &&>(args))...);
  }
};
struct when_each_t {
  template <class F, class... Args>
  auto operator()(F &&f, Args &&...args) const {
    return weft::when_each(static_cast<F &&>(f), acquire(static_cast<Args &&>(args))...);
  }
};

} // namespace detail

/// Makes a task that calls a function when all futures among its arguments are ready.
inline constexpr detail::dataflow_t dataflow{};
/// @{ Is ready when all, one, or some of the futures are; calls a function with each.
inline constexpr detail::when_all_t when_all{};
inline constexpr detail::when_any_t when_any{};
inline constexpr detail::when_some_t when_some{};
inline constexpr detail::when_each_t when_each{};
/// @}

// ---- futures that are ready

/// With a type, the value may be left out, or convert: make_ready_future<double>(1).
template <class T = void, class... Args>
auto make_ready_future(Args &&...args) {
  if constexpr (std::is_void_v<T>)
    return weft::make_ready_future(static_cast<Args &&>(args)...);
  else
    return weft::make_ready_future<T>(static_cast<Args &&>(args)...);
}
/// Turns a value into a future of it; a future stays what it is.
template <class T>
auto make_future(T &&value) {
  if constexpr (weft::detail::is_future<std::decay_t<T>>)
    return std::decay_t<T>(static_cast<T &&>(value));
  else
    return weft::make_ready_future(static_cast<T &&>(value));
}
template <class T>
shared_future<T> make_shared_future(future<T> &&before) {
  return std::move(before).share();
}
template <class T>
shared_future<T> make_shared_future(const shared_future<T> &before) {
  return before;
}

// ---- combinations

using weft::when_all_n;
using weft::when_any_n;
using weft::when_some_n;

using weft::split_future;
using weft::wait_all;
using weft::wait_all_n;
using weft::wait_any;
using weft::wait_any_n;
using weft::wait_each_n;
using weft::wait_some;
using weft::wait_some_n;

/// Calls `f` with each future, or its number and it, when it is ready.
template <class F, class... Args>
void wait_each(F &&f, Args &&...args) {
  hpx::when_each(static_cast<F &&>(f), static_cast<Args &&>(args)...).get();
}

// ---- values

template <class F>
auto unwrap(F &&f) {
  return static_cast<F &&>(f).get();
}

namespace util {
using hpx::unwrap;
/// Wraps a callable as unwrapping() does, or takes the values out of futures.
template <class F>
auto unwrapped(F &&f) {
  if constexpr (weft::detail::is_future<std::decay_t<F>>)
    return static_cast<F &&>(f).get();
  else
    return weft::unwrapping(static_cast<F &&>(f));
}
using weft::unwrapping;
} // namespace util

namespace lcos {
using hpx::dataflow;
using hpx::future;
using hpx::shared_future;
using hpx::wait_all;
using hpx::wait_any;
using hpx::wait_each;
using hpx::wait_some;
using hpx::when_all;
using hpx::when_any;
using hpx::when_each;
using hpx::when_some;
namespace local {
using hpx::dataflow;
using hpx::packaged_task;
using hpx::promise;
using hpx::when_all;
template <class F>
using futures_factory = packaged_task<F>;
} // namespace local
} // namespace lcos

} // namespace hpx

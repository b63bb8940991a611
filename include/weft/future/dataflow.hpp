// SPDX-License-Identifier: Apache-2.0
// Calls that wait for the futures among their arguments.
#pragma once

#include <weft/future/when.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {

template <class T>
class task;

namespace detail {

template <class T>
inline constexpr bool is_future_tuple = false;
template <class... T>
inline constexpr bool is_future_tuple<std::tuple<T...>> = sizeof...(T) != 0 && (is_future<T> && ...);

/// Is a range or a tuple of futures.
template <class A>
inline constexpr bool holds_several =
    is_future_range<std::remove_cvref_t<A>> || is_future_tuple<std::remove_cvref_t<A>> ||
    futures_in_range<A>;

/// Turns an argument of dataflow() into what is kept and what is waited for.
template <class A>
decltype(auto) as_awaited(A &&argument) {
  if constexpr (is_future_range<std::remove_cvref_t<A>>)
    return when_all(std::remove_cvref_t<A>(static_cast<A &&>(argument)));
  else if constexpr (is_future_tuple<std::remove_cvref_t<A>>)
    return all_of(std::remove_cvref_t<A>(static_cast<A &&>(argument)));
  else if constexpr (futures_in_range<A>)
    return when_all(static_cast<A &&>(argument));
  else
    return static_cast<A &&>(argument);
}
/// Gives an argument as the callable takes it; it lives as long as the call is kept.
template <bool Several, class A>
decltype(auto) as_given(A &argument) {
  if constexpr (Several)
    return future_access::value_in_place(argument);
  else
    return std::move(argument);
}

template <class F, class Kept, bool... Several>
struct data_call {
  F f;
  Kept arguments;
  decltype(auto) operator()() {
    return std::apply(
        [this](auto &...a) -> decltype(auto) {
          return std::invoke(std::move(f), as_given<Several>(a)...);
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
/// the futures themselves, a range of them (a vector, an array, a span, a list) as a vector, a tuple
/// of them as a tuple, and other arguments as they are; see unwrapping(). A range or tuple of
/// futures that are not shared is moved: std::move says so. Returns the future of what `f` returns,
/// unwrapped. The policy means what it means for future::then().
///
/// Cost. One allocation, and two for a range or a tuple.
/// Errors. future_error no_state; invalid_argument for a policy that is none; else as spawn().
template <class F, class... Args>
auto dataflow(launch policy, F &&f, Args &&...args) {
  using kept = std::tuple<std::decay_t<decltype(detail::as_awaited(std::declval<Args>()))>...>;
  using call = detail::data_call<std::decay_t<F>, kept,
                                 detail::holds_several<Args>...>;
  call made{static_cast<F &&>(f), kept(detail::as_awaited(static_cast<Args &&>(args))...)};
  auto clauses =
      std::apply([](const auto &...each) { return std::tuple_cat(detail::after_of(each)...); },
                 made.arguments);
  return std::apply(
      [&](const auto &...each) { return detail::continue_as(policy, std::move(made), each...); },
      clauses);
}
/// Does the same with launch::async.
template <class F, class... Args>
  requires(!std::is_same_v<std::decay_t<F>, launch>)
auto dataflow(F &&f, Args &&...args) {
  return dataflow(launch::async, static_cast<F &&>(f), static_cast<Args &&>(args)...);
}

namespace detail {

template <class A>
auto unwrap_one(A &&argument) {
  using type = std::remove_cvref_t<A>;
  if constexpr (is_future<type>) {
    if constexpr (std::is_void_v<typename type::value_type>) {
      argument.get();
      return std::tuple();
    } else if constexpr (std::is_reference_v<decltype(argument.get())>) {
      return std::tuple<decltype(argument.get())>(argument.get()); // the future outlives the call
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
      using element =
          std::conditional_t<std::is_reference_v<value>,
                             std::reference_wrapper<std::remove_reference_t<value>>, value>;
      std::vector<element> values;
      values.reserve(argument.size());
      for (auto &each : argument)
        values.push_back(each.get());
      return std::tuple<std::vector<element>>(std::move(values));
    }
  } else if constexpr (is_future_tuple<type>) {
    return std::make_tuple(std::apply(
        [](auto &...each) { return std::tuple_cat(unwrap_one(each)...); }, argument));
  } else {
    return std::tuple<type>(static_cast<A &&>(argument));
  }
}

/// Calls `f`, which returns a coroutine, with values. Both live until that is over. weft/coro.hpp
/// defines it.
template <class T, class F, class Values>
weft::task<T> call_and_keep(F f, Values values);

/// Is what unwrapping() returns.
template <class F>
struct unwrapping_call {
  F f;
  template <class... Args>
  decltype(auto) operator()(Args &&...args) & {
    return call<false>(static_cast<Args &&>(args)...);
  }
  template <class... Args>
  decltype(auto) operator()(Args &&...args) && {
    return call<true>(static_cast<Args &&>(args)...);
  }

 private:
  template <bool IsLastCall, class... Args>
  decltype(auto) call(Args &&...args) {
    using values = decltype(std::tuple_cat(unwrap_one(static_cast<Args &&>(args))...));
    using body = body_of<F, decltype(std::apply(f, std::declval<values>()))>;
    if constexpr (!body::is_coroutine) {
      return std::apply(f, std::tuple_cat(unwrap_one(static_cast<Args &&>(args))...));
    } else {
      static_assert(IsLastCall || std::is_copy_constructible_v<F>,
                    "the callable of this weft::unwrapping makes coroutines, and is no copyable one: "
                    "call std::move(wrapper)(...), once");
      using kept = std::conditional_t<IsLastCall, F &&, const F &>; // by the coroutine
      return call_and_keep<typename body::value, F>(
          static_cast<kept>(f), std::tuple_cat(unwrap_one(static_cast<Args &&>(args))...));
    }
  }
};

} // namespace detail

/// Returns a callable that takes futures, vectors and tuples of them, and calls `f` with their
/// values: for then() and dataflow(). A future of nothing gives none; a vector of futures of references
/// gives one of std::reference_wrapper. The values live until `f` has returned; if it returns a
/// weft::task, until that is over: then `f` is called when that begins, and is a copy that the task
/// keeps, or `f` itself where the wrapper is an rvalue. A coroutine that returns a future takes them by
/// value.
template <class F>
auto unwrapping(F &&f) {
  return detail::unwrapping_call<std::decay_t<F>>{static_cast<F &&>(f)};
}

} // namespace weft::inline v0

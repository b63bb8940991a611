// SPDX-License-Identifier: Apache-2.0
// Several futures: when all, one or some of them are ready, and each as it becomes so.
#pragma once

#include <weft/future/promise.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace detail {

/// Gives the states of a tuple of futures, or of a range, as an array. Those of a range are its
/// elements: a future is one pointer to its state.
template <class Futures>
struct state_array {
  std::array<task *, std::tuple_size_v<Futures>> states;
  input_list list(const Futures &futures) noexcept {
    states = std::apply(
        [](const auto &...each) {
          return std::array<task *, sizeof...(each)>{future_access::state(each)...};
        },
        futures);
    return {states.data(), states.size()};
  }
};
template <class Futures>
  requires is_future_range<Futures>
struct state_array<Futures> {
  static input_list list(const Futures &futures) noexcept {
    using each = typename Futures::value_type;
    static_assert(std::is_standard_layout_v<each> && sizeof(each) == sizeof(task *));
    return {reinterpret_cast<task *const *>(futures.data()), futures.size()};
  }
};

template <class Futures>
struct all_body : state_body<Futures> {
  all_inputs all;
  [[no_unique_address]] state_array<Futures> states;
  static input_list inputs(const void *p) noexcept {
    return static_cast<const all_body *>(p)->all.inputs;
  }
  static constexpr body_ops ops{nullptr, nullptr, &state_body<Futures>::destroy_result, true, 0,
                                nullptr, &inputs};
};

template <class Body, class Result>
task *make_combined(const char *label, Result &&result) {
  task *const t = state_create(k_state_ops<Body>, label);
  auto *const body = ::new (storage(t)) Body;
  const auto take = [&]() -> std::remove_cvref_t<Result> { return static_cast<Result &&>(result); };
  body->result.make(take); // moves futures and vectors: throws nothing
  body->has_result = true;
  return t;
}

template <class Futures>
future<Futures> all_of(Futures &&futures) {
  inputs_start(state_array<Futures>().list(futures));
  using body_type = all_body<Futures>;
  task *const t = make_combined<body_type>("when_all", std::move(futures));
  auto *const body = static_cast<body_type *>(storage(t));
  body->all.whole = t;
  body->all.inputs = body->states.list(body->result.get());
  future<Futures> result(t);
  state_finish_after_all(body->all);
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
  [[no_unique_address]] state_array<Futures> states;
  static void destroy_result(void *p) noexcept {
    auto *const self = static_cast<some_body *>(p);
    state_body<when_some_result<Futures>>::destroy_result(p);
    self->nodes.reset();
  }
  static input_list inputs(const void *p) noexcept {
    return static_cast<const some_body *>(p)->chosen.inputs;
  }
  static constexpr body_ops ops{nullptr, nullptr, &destroy_result, true, 0, nullptr, &inputs};
};

template <class Futures>
future<when_some_result<Futures>> some_of(std::size_t needed, bool cancels, Futures &&futures) {
  state_array<Futures> given;
  const input_list all = given.list(futures);
  inputs_start(all);
  if (needed > all.count)
    throw_too_many(needed, all.count);
  using body_type = some_body<Futures>;
  std::vector<std::size_t> indices(needed);
  auto nodes = std::make_unique<choice::node[]>(all.count);
  task *const t = make_combined<body_type>(
      "when_some", when_some_result<Futures>{std::move(indices), std::move(futures)});
  auto *const body = static_cast<body_type *>(storage(t));
  body->nodes = std::move(nodes);
  when_some_result<Futures> &some = body->result.get();
  choice &c = body->chosen;
  c.whole = t;
  c.nodes = body->nodes.get();
  c.inputs = body->states.list(some.futures);
  c.inputs.any = needed < c.inputs.count;
  c.winners = some.indices.data();
  c.needed = static_cast<std::uint32_t>(needed);
  c.cancels = cancels;
  future<when_some_result<Futures>> result(t);
  state_finish_after_some(c);
  return result;
}

template <class Futures>
future<when_any_result<Futures>> any_of(bool cancels, Futures &&futures) {
  const std::size_t needed = state_array<Futures>().list(futures).count == 0 ? 0 : 1;
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
/// Is a range of futures that is no vector: an array, a span, a list. As a vector does, it says by
/// std::move that futures are taken out of it.
template <class R>
concept futures_in_range =
    !is_future<std::remove_cvref_t<R>> && !is_future_range<std::remove_cvref_t<R>> &&
    std::ranges::input_range<R> && is_future<std::ranges::range_value_t<R>> &&
    (!std::is_lvalue_reference_v<R> || std::ranges::view<std::remove_cvref_t<R>> ||
     std::is_copy_constructible_v<std::ranges::range_value_t<R>>);
template <class R>
auto gather_range(R &&range) {
  auto first = std::ranges::begin(range);
  std::vector<std::ranges::range_value_t<R>> all;
  for (const auto last = std::ranges::end(range); first != last; ++first)
    if constexpr (std::is_copy_constructible_v<std::ranges::range_value_t<R>>)
      all.push_back(*first);
    else
      all.push_back(std::move(*first));
  return all;
}

} // namespace detail

/// @{ Returns a future that is ready when all of these are. Its value holds them, as a tuple or as a
/// vector; futures are moved, shared futures copied. Exceptions stay in them.
///
/// Cost. One allocation. No task. It waits for one input at a time, so inputs that are ready when
/// it comes to them cost two loads.
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
template <class R>
  requires detail::futures_in_range<R>
auto when_all(R &&futures) {
  return detail::all_of(detail::gather_range(static_cast<R &&>(futures)));
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
auto when_any(cancel_rest_t, Iterator first, Iterator last) {
  return detail::any_of(true, detail::gather(first, last));
}
template <class R>
  requires detail::futures_in_range<R>
auto when_any(R &&futures) {
  return detail::any_of(false, detail::gather_range(static_cast<R &&>(futures)));
}
template <class R>
  requires detail::futures_in_range<R>
auto when_any(cancel_rest_t, R &&futures) {
  return detail::any_of(true, detail::gather_range(static_cast<R &&>(futures)));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_any_n(Iterator first, std::size_t n) {
  return detail::any_of(false, detail::gather_n(first, n));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_any_n(cancel_rest_t, Iterator first, std::size_t n) {
  return detail::any_of(true, detail::gather_n(first, n));
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
template <class... Futures>
  requires detail::futures_only<Futures...>
auto when_some(cancel_rest_t, std::size_t n, Futures &&...futures) {
  return detail::some_of(
      n, true, std::tuple<std::remove_cvref_t<Futures>...>(static_cast<Futures &&>(futures)...));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_some(cancel_rest_t, std::size_t n, Iterator first, Iterator last) {
  return detail::some_of(n, true, detail::gather(first, last));
}
template <class R>
  requires detail::futures_in_range<R>
auto when_some(std::size_t n, R &&futures) {
  return detail::some_of(n, false, detail::gather_range(static_cast<R &&>(futures)));
}
template <class R>
  requires detail::futures_in_range<R>
auto when_some(cancel_rest_t, std::size_t n, R &&futures) {
  return detail::some_of(n, true, detail::gather_range(static_cast<R &&>(futures)));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_some_n(std::size_t n, Iterator first, std::size_t count) {
  return detail::some_of(n, false, detail::gather_n(first, count));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
auto when_some_n(cancel_rest_t, std::size_t n, Iterator first, std::size_t count) {
  return detail::some_of(n, true, detail::gather_n(first, count));
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

template <class F, class... Futures>
void call_for_number(F &f, std::size_t i, std::tuple<Futures...> &futures) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == i ? call_for_each(f, i, std::move(std::get<I>(futures))) : void()), ...);
  }(std::index_sequence_for<Futures...>());
}
template <class F, class Futures>
void call_for_number(F &f, std::size_t i, Futures &futures) {
  call_for_each(f, i, std::move(futures[i]));
}

/// Calls `f` for futures as they become ready, one call at a time: the task of the future that is
/// ready makes the calls that are due, unless another one is at that. It lives as long as one of
/// these tasks.
template <class F, class Futures>
class each_calls {
 public:
  template <class G>
  each_calls(G &&callable, Futures &&all)
      : m_what(std::in_place, static_cast<G &&>(callable), std::move(all)), m_left(count() + 1) {
    m_ready.reserve(count());
  }
  /// Spawns a task for each future. Returns the future of the last call.
  static future<void> begin(const std::shared_ptr<each_calls> &self) {
    future<void> over = self->m_over.get_future();
    std::size_t n = 0;
    try {
      self->for_each_state([&](task *before) {
        spawn([self, n] { self->arrive(n); }, after_clause(before), label("when_each"));
        ++n;
      });
    } catch (...) {
      self->keep_first(std::current_exception());
    }
    self->leave(self->count() - n + 1);
    return over;
  }

 private:
  struct callable_and_futures {
    template <class G>
    callable_and_futures(G &&callable, Futures &&all)
        : f(static_cast<G &&>(callable)), futures(std::move(all)) {}
    F f;
    Futures futures;
  };

  [[nodiscard]] std::size_t count() const noexcept {
    if constexpr (is_future_range<Futures>)
      return m_what->futures.size();
    else
      return std::tuple_size_v<Futures>;
  }
  template <class Take>
  void for_each_state(const Take &take) {
    if constexpr (is_future_range<Futures>)
      for (auto &one : m_what->futures)
        take(future_access::state(one));
    else
      std::apply([&](auto &...one) { (take(future_access::state(one)), ...); }, m_what->futures);
  }

  void arrive(std::size_t i) {
    {
      const std::lock_guard guard(m_lock);
      m_ready.push_back(i);
      if (m_is_calling)
        return;
      m_is_calling = true;
    }
    std::size_t calls = 0;
    for (std::size_t next = 0; take_next(next); ++calls)
      keep_what_is_thrown([&] { call_for_number(m_what->f, next, m_what->futures); });
    keep_what_is_thrown([] { taskwait(); }); // what the calls have spawned
    leave(calls);
  }
  [[nodiscard]] bool take_next(std::size_t &next) {
    const std::lock_guard guard(m_lock);
    m_is_calling = m_called != m_ready.size();
    if (m_is_calling)
      next = m_ready[m_called++];
    return m_is_calling;
  }
  template <class Call>
  void keep_what_is_thrown(const Call &call) {
    try {
      call();
    } catch (...) {
      std::exception_ptr thrown = std::current_exception();
      if (!thrown)
        throw; // no C++ exception: pthread_exit() or pthread_cancel() ends the thread
      keep_first(std::move(thrown));
    }
  }
  void keep_first(std::exception_ptr thrown) {
    const std::lock_guard guard(m_lock);
    if (!m_first)
      m_first = std::move(thrown);
  }
  /// Notes that so many calls are over or are not to come, or that begin() is over. The last one ends
  /// it, when nothing of the user is left.
  void leave(std::size_t n) {
    {
      const std::lock_guard guard(m_lock);
      m_left -= n;
      if (m_left != 0)
        return;
    }
    m_what.reset();
    if (m_first)
      m_over.set_exception(std::move(m_first));
    else
      m_over.set_value();
  }

  std::optional<callable_and_futures> m_what;
  promise<void> m_over;
  std::mutex m_lock; // of what follows
  std::vector<std::size_t> m_ready; // numbers, in the order in which they have become so
  std::size_t m_called = 0; // of these
  bool m_is_calling = false;
  std::size_t m_left;
  std::exception_ptr m_first;
};

template <class F, class Futures>
auto each_of(F &&f, Futures &&futures) {
  inputs_start(state_array<std::remove_cvref_t<Futures>>().list(futures));
  using calls = each_calls<std::decay_t<F>, std::remove_cvref_t<Futures>>;
  return launch_call<true>(launch::async, [all = std::make_shared<calls>(
                                               static_cast<F &&>(f), std::move(futures))] {
    return calls::begin(all);
  });
}

} // namespace detail

/// @{ Calls f(future) or f(number, future) for each of these, one call at a time, in the order in
/// which they become ready. The result is ready after the last call and the tasks that the calls have
/// spawned; it has the first exception of these. No stack waits for a future.
///
/// Cost. Three allocations and a task, and a task for each future.
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
template <class F, class R>
  requires detail::futures_in_range<R>
future<void> when_each(F &&f, R &&futures) {
  return detail::each_of(static_cast<F &&>(f), detail::gather_range(static_cast<R &&>(futures)));
}
template <class F, class Iterator>
  requires detail::iterates_futures<Iterator>
future<void> when_each_n(F &&f, Iterator first, std::size_t n) {
  return detail::each_of(static_cast<F &&>(f), detail::gather_n(first, n));
}
/// @}

} // namespace weft::inline v0

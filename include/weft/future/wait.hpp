// SPDX-License-Identifier: Apache-2.0
// Waits for several futures, which stay the caller's; and futures of the parts of a result.
#pragma once

#include <weft/future/future.hpp>
#include <weft/future/when.hpp>
#include <weft/sync/semaphore.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace detail {

/// Counts futures that become ready. It lives until each node was taken back or its record has run.
class ready_count {
 public:
  explicit ready_count(const std::vector<task *> &states) {
    m_nodes.reserve(states.size());
    for (task *state : states)
      m_nodes.push_back(std::make_unique<node>(*this, state));
  }
  /// Waits until `n` of the futures are ready. Starts those that are deferred.
  void wait(std::size_t n) {
    for (const auto &each : m_nodes) {
      task_start(each->state);
      m_users.fetch_add(1, std::memory_order_relaxed);
      each->attached = task_attach(each->state, each.get());
      if (!each->attached) {
        m_ready.release();
        leave();
      }
    }
    while (n-- != 0)
      m_ready.acquire();
  }
  /// Takes back what is not ready; the object ends itself.
  void end() noexcept {
    for (const auto &each : m_nodes)
      if (each->attached && task_detach(each->state, each.get()))
        leave();
    leave();
  }

 private:
  struct node : posting_waiter {
    node(ready_count &all, task *t) noexcept : posting_waiter(&run), of(&all), state(t) {}
    static void run(call_record *call) noexcept {
      ready_count &all = *static_cast<node *>(static_cast<posted_call *>(call)->owner)->of;
      all.m_ready.release();
      all.leave();
    }
    ready_count *of;
    task *state;
    bool attached = false; // of the waiter alone
  };
  ~ready_count() = default;
  void leave() noexcept {
    if (m_users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  counting_semaphore<> m_ready{0};
  std::atomic<std::size_t> m_users{1}; // the waiter, and the nodes that may still be fired
  std::vector<std::unique_ptr<node>> m_nodes;
};

inline void wait_for_some(std::size_t n, const std::vector<task *> &states) {
  struct ender {
    ~ender() { count->end(); }
    ready_count *count;
  } const all{new ready_count(states)};
  all.count->wait(std::min(n, states.size()));
}

/// Is a future, or a range of futures.
template <class A>
concept holds_futures =
    is_future<std::remove_cvref_t<A>> || is_future<std::ranges::range_value_t<const A &>>;

template <class F, class A>
void for_each_future(F &f, const A &given) {
  if constexpr (is_future<A>)
    f(given);
  else
    for (const auto &each : given)
      f(each);
}

/// Waits for the futures that walk(f) calls f with; then throws the first exception of one of them,
/// which keeps it.
template <class Walk>
void wait_for_all(Walk walk) {
  walk([](const auto &each) {
    if (each.valid())
      each.wait();
  });
  walk([](const auto &each) {
    if (each.valid() && each.has_exception())
      if (std::exception_ptr e = task_exception(future_access::state(each)))
        std::rethrow_exception(std::move(e));
  });
}
template <class Walk>
std::vector<task *> states_of(Walk walk) {
  std::vector<task *> states;
  walk([&](const auto &each) {
    if (each.valid())
      states.push_back(future_access::state(each));
  });
  return states;
}

template <class... Given>
auto walk_over(const Given &...given) {
  return [&]([[maybe_unused]] auto f) { (for_each_future(f, given), ...); };
}
template <class Iterator>
auto walk_from(Iterator first, Iterator last) {
  return [first, last](auto call) {
    for (Iterator i = first; i != last; ++i)
      call(*i);
  };
}
template <class Iterator>
auto walk_over_n(Iterator first, std::size_t n) {
  return [first, n](auto call) {
    Iterator i = first;
    for (std::size_t left = n; left != 0; --left, ++i)
      call(*i);
  };
}

} // namespace detail

/// @{ Waits until all of these futures, or ranges of them, are ready. They stay what they are, and
/// futures without a state are passed over. Then throws the first exception among them, which stays
/// there too.
///
/// Cost. As so many calls of wait(): what no worker has begun runs in place.
/// Blocks. As future::wait().
template <class... Given>
  requires(detail::holds_futures<Given> && ...)
void wait_all(const Given &...futures) {
  detail::wait_for_all(detail::walk_over(futures...));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_all(Iterator first, Iterator last) {
  detail::wait_for_all(detail::walk_from(first, last));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_all_n(Iterator first, std::size_t n) {
  detail::wait_for_all(detail::walk_over_n(first, n));
}
/// @}

/// @{ Waits until `n` of these futures, or ranges of them, are ready; until all are, if there are
/// fewer. They stay what they are; futures without a state do not count. Throws none of their
/// exceptions.
///
/// Cost. Two allocations, and one per future. Deferred ones are started.
/// Blocks. Yes: nothing runs in place.
/// Errors. out_of_resources; std::bad_alloc.
template <class... Given>
  requires(detail::holds_futures<Given> && ...)
void wait_some(std::size_t n, const Given &...futures) {
  detail::wait_for_some(n, detail::states_of(detail::walk_over(futures...)));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_some(std::size_t n, Iterator first, Iterator last) {
  detail::wait_for_some(n, detail::states_of(detail::walk_from(first, last)));
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_some_n(std::size_t n, Iterator first, std::size_t count) {
  detail::wait_for_some(n, detail::states_of(detail::walk_over_n(first, count)));
}
/// @}

/// @{ Waits until one of these futures, or ranges of them, is ready, as wait_some(1, ...) does.
template <class... Given>
  requires(detail::holds_futures<Given> && ...)
void wait_any(const Given &...futures) {
  weft::wait_some(1, futures...);
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_any(Iterator first, Iterator last) {
  weft::wait_some(1, first, last);
}
template <class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_any_n(Iterator first, std::size_t n) {
  weft::wait_some_n(1, first, n);
}
/// @}

/// @{ Calls f as when_each() does, and waits until it was called for all.
///
/// Errors. As when_each(); throws the first exception of a call.
template <class F, class... Futures>
void wait_each(F &&f, Futures &&...futures) {
  weft::when_each(static_cast<F &&>(f), static_cast<Futures &&>(futures)...).get();
}
template <class F, class Iterator>
  requires detail::iterates_futures<Iterator>
void wait_each_n(F &&f, Iterator first, std::size_t n) {
  weft::when_each_n(static_cast<F &&>(f), first, n).get();
}
/// @}

/// @{ Turns a future of several values into a future of each: of the elements of a tuple, or of the
/// first `n` of a vector, which has as many or leaves std::out_of_range in the futures behind its
/// end. An exception is in all of them. The values are copied.
///
/// Cost. A task per future.
template <class... T>
[[nodiscard]] std::tuple<future<T>...> split_future(future<std::tuple<T...>> &&whole) {
  const shared_future<std::tuple<T...>> all = std::move(whole).share();
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<future<T>...>(all.then([](const shared_future<std::tuple<T...>> &ready) -> T {
      return std::get<I>(ready.get());
    })...);
  }(std::index_sequence_for<T...>());
}
template <class T>
[[nodiscard]] std::vector<future<T>> split_future(future<std::vector<T>> &&whole, std::size_t n) {
  const shared_future<std::vector<T>> all = std::move(whole).share();
  std::vector<future<T>> parts;
  parts.reserve(n);
  for (std::size_t i = 0; i != n; ++i)
    parts.push_back(all.then(
        [i](const shared_future<std::vector<T>> &ready) -> T { return ready.get().at(i); }));
  return parts;
}
/// @}

} // namespace weft::inline v0

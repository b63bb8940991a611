// SPDX-License-Identifier: Apache-2.0
// A loop with inductions and reductions.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>
#include <weft/range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

namespace detail {

template <class T>
struct induction_clause {
  T begin, stride;
  using local = T;
  T *result; // null: not written back
};
template <class T, class Op>
struct loop_reduction_clause {
  T *into;
  T identity;
  Op op;
};

/// Joins the values of participants: holds one that no other has been combined with yet. An operation
/// may wait, so it is called without the lock, for two values that the caller has taken.
template <class T>
class reduction_place {
 public:
  template <class Op>
  void join(T &&value, const Op &op) {
    T mine(std::move(value));
    while (std::optional<T> other = exchange_for(mine)) {
      T next(op(std::move(*other), std::move(mine)));
      mine = std::move(next);
    }
  }
  [[nodiscard]] std::optional<T> &joined() noexcept { return m_value; } ///< when all have come

 private:
  /// Takes the value that is held, or leaves `mine`.
  std::optional<T> exchange_for(T &mine) {
    const std::lock_guard guard(m_lock);
    if (!m_value) {
      m_value.emplace(std::move(mine));
      return std::nullopt;
    }
    std::optional<T> held(std::move(m_value));
    m_value.reset();
    return held;
  }

  std::mutex m_lock; // for the moves of two values
  std::optional<T> m_value;
};

struct nothing_shared {};

template <class Clause>
struct clause_state;
template <class T>
struct clause_state<induction_clause<T>> {
  using shared = nothing_shared;
  using result_type = T;
  const induction_clause<T> &c;
  T value;
  explicit clause_state(const induction_clause<T> &clause) : c(clause), value(clause.begin) {}
  void begin(std::uint64_t i) { value = static_cast<T>(c.begin + static_cast<T>(i) * c.stride); }
  T get() const { return value; }
  void step() { value = static_cast<T>(value + c.stride); }
  static void end(shared &) {}
  static T result(const induction_clause<T> &clause, shared &, std::uint64_t n) {
    return static_cast<T>(clause.begin + static_cast<T>(n) * clause.stride);
  }
  static void assign(const induction_clause<T> &clause, T &&result) {
    if (clause.result)
      *clause.result = std::move(result);
  }
};
template <class T, class Op>
struct clause_state<loop_reduction_clause<T, Op>> {
  using shared = reduction_place<T>;
  using result_type = std::optional<T>;
  const loop_reduction_clause<T, Op> &c;
  T value;
  explicit clause_state(const loop_reduction_clause<T, Op> &clause)
      : c(clause), value(clause.identity) {}
  void begin(std::uint64_t) {}
  T &get() { return value; }
  void step() {}
  void end(shared &all) { all.join(std::move(value), c.op); }
  /// Leaves the user's variable as it is, because op may throw.
  static result_type result(const loop_reduction_clause<T, Op> &clause, shared &all,
                                 std::uint64_t) {
    if (!all.joined())
      return std::nullopt;
    return std::optional<T>(clause.op(T(*clause.into), std::move(*all.joined())));
  }
  static void assign(const loop_reduction_clause<T, Op> &clause, std::optional<T> &&result) {
    if (result)
      *clause.into = std::move(*result);
  }
};

template <class F, class... Clauses>
struct for_loop_tag {};

template <class I>
auto loop_value(I first, std::uint64_t i, std::int64_t stride) {
  if constexpr (std::is_integral_v<I>)
    return static_cast<I>(static_cast<std::uint64_t>(first) +
                          i * static_cast<std::uint64_t>(stride));
  else
    return first + static_cast<difference_of<I>>(static_cast<std::int64_t>(i) * stride);
}

/// Counts the values from first to last, without last, by strides.
template <class I>
std::uint64_t loop_count(I first, I last, std::int64_t stride) {
  if (stride == 0)
    refuse_step();
  std::uint64_t width = 0;
  if constexpr (std::is_integral_v<I>) {
    if (stride > 0 ? !(first < last) : !(last < first))
      return 0;
    width = stride > 0 ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)
                       : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(last);
  } else {
    const auto distance = static_cast<std::int64_t>(last - first);
    if (stride > 0 ? distance <= 0 : distance >= 0)
      return 0;
    width = static_cast<std::uint64_t>(stride > 0 ? distance : -distance);
  }
  const std::uint64_t step =
      stride > 0 ? static_cast<std::uint64_t>(stride) : 0 - static_cast<std::uint64_t>(stride);
  return (width - 1) / step + 1;
}

template <class P, class I, std::size_t... Is, class Tuple>
void for_loop(const P &policy, I first, std::uint64_t n, std::int64_t stride,
              std::index_sequence<Is...>, Tuple &all) {
  auto &f = std::get<sizeof...(Is)>(all);
  using states_of =
      std::tuple<clause_state<std::remove_cvref_t<std::tuple_element_t<Is, Tuple>>>...>;
  [[maybe_unused]] std::tuple<typename std::tuple_element_t<Is, states_of>::shared...> shared;
  const auto over = [&](auto &blocks) {
    [[maybe_unused]] states_of states(std::get<Is>(all)...);
    bool any = false;
    for (std::uint64_t begin = 0, count = 0; blocks.next(begin, count); any = true) {
      (std::get<Is>(states).begin(begin), ...);
      for (std::uint64_t i = begin; i < begin + count; ++i) {
        f(loop_value(first, i, stride), std::get<Is>(states).get()...);
        (std::get<Is>(states).step(), ...);
      }
    }
    if (any)
      (std::get<Is>(states).end(std::get<Is>(shared)), ...);
  };
  const auto write_back = [&] {
    // All of them, before the first variable changes.
    [[maybe_unused]] std::tuple<typename std::tuple_element_t<Is, states_of>::result_type...> results{
        std::tuple_element_t<Is, states_of>::result(std::get<Is>(all), std::get<Is>(shared), n)...};
    (std::tuple_element_t<Is, states_of>::assign(std::get<Is>(all),
                                                 std::move(std::get<Is>(results))),
     ...);
  };
  if constexpr (P::is_parallel) {
    run_blocks<for_loop_tag<Tuple>>(policy.control(), n, over);
    if constexpr (sizeof...(Is) != 0)
      with_errors(policy.control(), write_back);
  } else {
    in_order(policy, [&] {
      one_block everything(n);
      over(everything);
      write_back();
    });
  }
}

} // namespace detail

/// Gives f a value that begins with `value` and grows by `stride` with each iteration.
template <class T>
[[nodiscard]] detail::induction_clause<std::decay_t<T>> induction(T &&value,
                                                                  std::decay_t<T> stride = 1) {
  if constexpr (std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>)
    return {value, stride, &value};
  else
    return {value, stride, nullptr};
}
/// Gives f a reference to a copy that begins with `identity`. At the end of the loop op combines
/// the copies, in no order, and the result with `into`, which an exception leaves as it was. `op` may
/// wait, and runs at several places at once.
template <class T, class Op>
[[nodiscard]] detail::loop_reduction_clause<T, Op> loop_reduction(T &into, T identity, Op op) {
  return {&into, std::move(identity), std::move(op)};
}
/// @{
/// Reduces by an operation of the standard.
template <class T>
[[nodiscard]] auto reduction_plus(T &into) {
  return loop_reduction(into, T(), std::plus<>());
}
template <class T>
[[nodiscard]] auto reduction_multiplies(T &into) {
  return loop_reduction(into, T(1), std::multiplies<>());
}
template <class T>
[[nodiscard]] auto reduction_bit_and(T &into) {
  return loop_reduction(into, static_cast<T>(~T()), std::bit_and<>());
}
template <class T>
[[nodiscard]] auto reduction_bit_or(T &into) {
  return loop_reduction(into, T(), std::bit_or<>());
}
template <class T>
[[nodiscard]] auto reduction_bit_xor(T &into) {
  return loop_reduction(into, T(), std::bit_xor<>());
}
template <class T>
[[nodiscard]] auto reduction_min(T &into) {
  return loop_reduction(into, T(into), [](const T &a, const T &b) { return std::min(a, b); });
}
template <class T>
[[nodiscard]] auto reduction_max(T &into) {
  return loop_reduction(into, T(into), [](const T &a, const T &b) { return std::max(a, b); });
}
/// @}

/// Calls f(i, values...) for each i from first to last, without last, by `stride`: integers or
/// iterators. The values are those of the inductions and reductions before f.
///
///     weft::for_loop_strided(weft::execution::par, 0, n, 2, weft::reduction_plus(sum), [&](int i, long &s) { s += x[i]; });
///
/// Errors. invalid_argument for a stride of 0; else what f throws.
/// Source. P0075.
template <policy_type P, class I, class... Rest>
void for_loop_strided(const P &policy, I first, std::type_identity_t<I> last, std::int64_t stride,
                      Rest &&...rest) {
  static_assert(sizeof...(Rest) >= 1, "weft::for_loop needs a function behind its clauses");
  std::tuple<Rest &&...> all(static_cast<Rest &&>(rest)...);
  const std::uint64_t n = detail::loop_count(first, last, stride);
  detail::place(policy, [&] {
    detail::for_loop(policy, first, n, stride, std::make_index_sequence<sizeof...(Rest) - 1>(),
                     all);
  });
}
/// Calls f(i, values...) for each i from first to last, without last, as for_loop_strided().
template <policy_type P, class I, class... Rest>
void for_loop(const P &policy, I first, std::type_identity_t<I> last, Rest &&...rest) {
  for_loop_strided(policy, first, last, 1, static_cast<Rest &&>(rest)...);
}

} // namespace weft::inline v0

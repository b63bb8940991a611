// SPDX-License-Identifier: Apache-2.0
// The parallel numeric algorithms of C++17 on Weft. weft/algorithm.hpp has the others, and says what
// all have in common.
//
// Reductions and scans keep the order of the elements, so an operation need not commute; it must be
// associative. How the elements are grouped is not fixed: a sum of floating-point numbers may
// differ in its last digits from run to run.
#pragma once

#include <weft/detail/as_task.hpp>
#include <weft/detail/execution_policy.hpp>

#include <functional>
#include <numeric>

namespace weft::inline v0 {

namespace detail {

/// Scans value(i) for i of [0, n) to out. An exclusive scan needs an initial value in `carry`.
template <bool Inclusive, class T, class P, class Out, class Value, class Op>
Out scan_values(const P &policy, std::uint64_t n, Out out, std::optional<T> carry, Value value,
                Op op) {
  struct tag {};
  const auto scan_from = [&](T sum, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
      if constexpr (Inclusive) {
        sum = op(std::move(sum), value(i));
        *at(out, i) = sum;
      } else {
        T next(op(sum, value(i))); // `out` may be the range that is read
        *at(out, i) = std::move(sum);
        sum = std::move(next);
      }
    }
    return sum;
  };
  const auto write_behind = [&](std::uint64_t first, std::uint64_t count,
                                std::optional<T> &before) {
    const std::uint64_t end = first + count;
    if constexpr (Inclusive) {
      if (!before) {
        before.emplace(value(first));
        *at(out, first) = *before;
        ++first;
      }
    }
    *before = scan_from(std::move(*before), first, end);
  };
  const bool has_carry = carry.has_value(); // callers know it: asked later, it would be in memory
  if (is_one_block<tag>(policy.control(), n)) [[likely]] {
    as_one_block<tag>(policy.control(), n, [&] {
      if (has_carry) {
        static_cast<void>(scan_from(std::move(*carry), 0, n));
      } else { // without a look at `carry` again, which would take as long as eight elements
        T sum(value(0));
        *at(out, 0) = sum;
        static_cast<void>(scan_from(std::move(sum), 1, n));
      }
    });
    return at(out, n);
  }
  scan_timed_blocks<tag, T>(
      policy.control(), n, carry,
      [&](std::uint64_t first, std::uint64_t count) { write_behind(first, count, carry); },
      [&](std::uint64_t first, std::uint64_t count) {
        return fold(T(value(first)), first + 1, first + count, value, op);
      },
      [&](std::uint64_t first, std::uint64_t count, std::optional<T> &&before) {
        write_behind(first, count, before);
      },
      op);
  return at(out, n);
}

} // namespace detail

/// Returns init, the transformed elements and op over all of them, in order.
template <policy_type P, iterator_type It, class T, class Op, class Transform>
T transform_reduce(const P &policy, It first, It last, T init, Op op, Transform f) {
  return detail::place(policy, [&]() -> T {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::reduce_onto<T>(
          policy, std::move(init), n,
          [&](std::uint64_t i) -> decltype(auto) { return f(*detail::at(first, i)); }, op);
    } else {
      return detail::in_order(policy, [&] {
        return std::transform_reduce(first, last, std::move(init), std::ref(op), std::ref(f));
      });
    }
  });
}

/// Returns init, the transformed pairs of elements of two ranges and op over all of them, in order.
template <policy_type P, iterator_type It, iterator_type It2, class T, class Op, class Transform>
T transform_reduce(const P &policy, It first, It last, It2 second, T init, Op op, Transform f) {
  return detail::place(policy, [&]() -> T {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::reduce_onto<T>(
          policy, std::move(init), n,
          [&](std::uint64_t i) -> decltype(auto) {
            return f(*detail::at(first, i), *detail::at(second, i));
          },
          op);
    } else {
      return detail::in_order(policy, [&] {
        return std::transform_reduce(first, last, second, std::move(init), std::ref(op),
                                     std::ref(f));
      });
    }
  });
}

/// Returns init plus the products of the pairs of elements.
template <policy_type P, iterator_type It, iterator_type It2, class T>
T transform_reduce(const P &policy, It first, It last, It2 second, T init) {
  return weft::transform_reduce(policy, first, last, second, std::move(init), std::plus<>(),
                                std::multiplies<>());
}

/// @{
/// Returns init, the elements and op over all of them, in order; without op their sum.
template <policy_type P, iterator_type It, class T, class Op>
T reduce(const P &policy, It first, It last, T init, Op op) {
  return detail::place(policy, [&]() -> T {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::reduce_onto<T>(
          policy, std::move(init), n,
          [first](std::uint64_t i) -> decltype(auto) { return *detail::at(first, i); }, op);
    } else {
      return detail::in_order(
          policy, [&] { return std::reduce(first, last, std::move(init), std::ref(op)); });
    }
  });
}
template <policy_type P, iterator_type It, class T>
T reduce(const P &policy, It first, It last, T init) {
  return weft::reduce(policy, first, last, std::move(init), std::plus<>());
}
template <policy_type P, iterator_type It>
detail::value_of<It> reduce(const P &policy, It first, It last) {
  return weft::reduce(policy, first, last, detail::value_of<It>{}, std::plus<>());
}
/// @}

/// Writes the scan of the transformed elements, each with what is before it; returns its end.
template <policy_type P, iterator_type It, class Out, class Op, class Transform, class T>
Out transform_inclusive_scan(const P &policy, It first, It last, Out out, Op op, Transform f,
                             T init) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>)
      return detail::scan_values<true, T>(
          policy, detail::count_between(first, last), out, std::optional<T>(std::move(init)),
          [&](std::uint64_t i) -> decltype(auto) { return f(*detail::at(first, i)); }, op);
    else
      return detail::in_order(policy, [&] {
        return std::transform_inclusive_scan(first, last, out, std::ref(op), std::ref(f),
                                             std::move(init));
      });
  });
}
/// Writes the scan of the transformed elements, without an initial value.
template <policy_type P, iterator_type It, class Out, class Op, class Transform>
Out transform_inclusive_scan(const P &policy, It first, It last, Out out, Op op, Transform f) {
  return detail::place(policy, [&]() -> Out {
    using value = std::decay_t<decltype(f(*first))>;
    if constexpr (detail::shares<P, It, Out>)
      return detail::scan_values<true, value>(
          policy, detail::count_between(first, last), out, std::nullopt,
          [&](std::uint64_t i) -> decltype(auto) { return f(*detail::at(first, i)); }, op);
    else
      return detail::in_order(policy, [&] {
        return std::transform_inclusive_scan(first, last, out, std::ref(op), std::ref(f));
      });
  });
}
/// Writes the scan of the transformed elements, each with what is before it and without itself.
template <policy_type P, iterator_type It, class Out, class T, class Op, class Transform>
Out transform_exclusive_scan(const P &policy, It first, It last, Out out, T init, Op op,
                             Transform f) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>)
      return detail::scan_values<false, T>(
          policy, detail::count_between(first, last), out, std::optional<T>(std::move(init)),
          [&](std::uint64_t i) -> decltype(auto) { return f(*detail::at(first, i)); }, op);
    else
      return detail::in_order(policy, [&] {
        return std::transform_exclusive_scan(first, last, out, std::move(init), std::ref(op),
                                             std::ref(f));
      });
  });
}

/// @{
/// Writes the scan of the elements, each included; returns its end.
template <policy_type P, iterator_type It, class Out, class Op, class T>
Out inclusive_scan(const P &policy, It first, It last, Out out, Op op, T init) {
  return weft::transform_inclusive_scan(policy, first, last, out, op, std::identity(),
                                        std::move(init));
}
template <policy_type P, iterator_type It, class Out, class Op>
Out inclusive_scan(const P &policy, It first, It last, Out out, Op op) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>)
      return detail::scan_values<true, detail::value_of<It>>(
          policy, detail::count_between(first, last), out, std::nullopt,
          [&](std::uint64_t i) -> decltype(auto) { return *detail::at(first, i); }, op);
    else
      return detail::in_order(policy,
                              [&] { return std::inclusive_scan(first, last, out, std::ref(op)); });
  });
}
template <policy_type P, iterator_type It, class Out>
Out inclusive_scan(const P &policy, It first, It last, Out out) {
  return weft::inclusive_scan(policy, first, last, out, std::plus<>());
}
/// @}
/// @{
/// Writes the scan of the elements behind init, each left out; returns its end.
template <policy_type P, iterator_type It, class Out, class T, class Op>
Out exclusive_scan(const P &policy, It first, It last, Out out, T init, Op op) {
  return weft::transform_exclusive_scan(policy, first, last, out, std::move(init), op,
                                        std::identity());
}
template <policy_type P, iterator_type It, class Out, class T>
Out exclusive_scan(const P &policy, It first, It last, Out out, T init) {
  return weft::exclusive_scan(policy, first, last, out, std::move(init), std::plus<>());
}
/// @}

/// @{
/// Writes the first element, then op of each with the one before it; returns the end.
template <policy_type P, iterator_type It, class Out, class Op>
Out adjacent_difference(const P &policy, It first, It last, Out out, Op op) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        if (i == 0)
          *out = *first;
        else
          *detail::at(out, i) = op(*detail::at(first, i), *detail::at(first, i - 1));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          policy, [&] { return std::adjacent_difference(first, last, out, std::ref(op)); });
    }
  });
}
template <policy_type P, iterator_type It, class Out>
Out adjacent_difference(const P &policy, It first, It last, Out out) {
  return weft::adjacent_difference(policy, first, last, out, std::minus<>());
}
/// @}

namespace detail {

/// Calls f(first, last) with the iterators of a range.
template <class R, class F>
decltype(auto) over(R &&range, F &&f) {
  auto first = std::ranges::begin(range);
  return f(first, std::ranges::next(first, std::ranges::end(range)));
}

} // namespace detail

/// @{
/// Does the same for the elements of a range; the other arguments follow it.
template <policy_type P, std::ranges::range R, class... Rest>
  requires(!iterator_type<R>)
auto reduce(const P &policy, R &&range, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::reduce(policy, first, last, static_cast<Rest &&>(rest)...);
  });
}
template <policy_type P, std::ranges::range R, class... Rest>
  requires(!iterator_type<R>)
auto inclusive_scan(const P &policy, R &&range, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::inclusive_scan(policy, first, last, static_cast<Rest &&>(rest)...);
  });
}
template <policy_type P, std::ranges::range R, class... Rest>
  requires(!iterator_type<R>)
auto exclusive_scan(const P &policy, R &&range, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::exclusive_scan(policy, first, last, static_cast<Rest &&>(rest)...);
  });
}
template <policy_type P, std::ranges::range R, class... Rest>
auto transform_inclusive_scan(const P &policy, R &&range, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::transform_inclusive_scan(policy, first, last, static_cast<Rest &&>(rest)...);
  });
}
template <policy_type P, std::ranges::range R, class... Rest>
auto transform_exclusive_scan(const P &policy, R &&range, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::transform_exclusive_scan(policy, first, last, static_cast<Rest &&>(rest)...);
  });
}
template <policy_type P, std::ranges::range R, class... Rest>
  requires(!iterator_type<R>)
auto adjacent_difference(const P &policy, R &&range, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::adjacent_difference(policy, first, last, static_cast<Rest &&>(rest)...);
  });
}
template <policy_type P, std::ranges::range R, class T, class Op, class Transform>
auto transform_reduce(const P &policy, R &&range, T init, Op op, Transform f) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::transform_reduce(policy, first, last, std::move(init), op, f);
  });
}
template <policy_type P, std::ranges::range R, std::ranges::range R2, class T, class... Rest>
auto transform_reduce(const P &policy, R &&range, R2 &&second, T init, Rest &&...rest) {
  return detail::over(range, [&](auto first, auto last) {
    return weft::transform_reduce(policy, first, last, std::ranges::begin(second), std::move(init),
                                  static_cast<Rest &&>(rest)...);
  });
}
/// @}

/// @cond
WEFT_AS_TASK(transform_reduce, sizeof...(Args) == 4 ? 1 : 2)
WEFT_AS_TASK(reduce, 1)
WEFT_AS_TASK(transform_inclusive_scan, 1)
WEFT_AS_TASK(transform_exclusive_scan, 1)
WEFT_AS_TASK(inclusive_scan, 1)
WEFT_AS_TASK(exclusive_scan, 1)
WEFT_AS_TASK(adjacent_difference, 1)
/// @endcond

} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Counts and extremes.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

namespace weft::inline v0 {

/// Counts the elements that the predicate holds for.
template <policy_type P, iterator_type It, class Pred>
detail::difference_of<It> count_if(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> detail::difference_of<It> {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      using number = detail::difference_of<It>;
      return detail::reduce_onto<number>(
          policy, number{0}, n,
          [&](std::uint64_t i) -> number { return pred(*detail::at(first, i)) ? 1 : 0; },
          std::plus<number>());
    } else {
      return detail::in_order(policy, [&]() -> detail::difference_of<It> {
        return std::count_if(first, last, std::ref(pred));
      });
    }
  });
}

/// Counts the elements that are equal to the value.
template <policy_type P, iterator_type It, class T>
detail::difference_of<It> count(const P &policy, It first, It last, const T &value) {
  return detail::place(policy, [&]() -> detail::difference_of<It> {
    if constexpr (detail::shares<P, It>) {
      return weft::count_if(policy, first, last, [&value](const auto &a) { return a == value; });
    } else {
      return detail::in_order(
          policy, [&]() -> detail::difference_of<It> { return std::count(first, last, value); });
    }
  });
}

/// Returns the first of the smallest elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It min_element(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::reduce_indices<std::uint64_t>(
                                   policy, n, [](std::uint64_t i) { return i; },
                                   [&](std::uint64_t a, std::uint64_t b) {
                                     return comp(*detail::at(first, b), *detail::at(first, a)) ? b
                                                                                               : a;
                                   })
                                   .value_or(n));
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::min_element(first, last, std::ref(comp)); });
    }
  });
}

/// Returns the first of the largest elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It max_element(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::reduce_indices<std::uint64_t>(
                                   policy, n, [](std::uint64_t i) { return i; },
                                   [&](std::uint64_t a, std::uint64_t b) {
                                     return comp(*detail::at(first, a), *detail::at(first, b)) ? b
                                                                                               : a;
                                   })
                                   .value_or(n));
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::max_element(first, last, std::ref(comp)); });
    }
  });
}

/// Returns the first of the smallest and the last of the largest elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
std::pair<It, It> minmax_element(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> std::pair<It, It> {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      using both = std::pair<std::uint64_t, std::uint64_t>;
      const both found =
          detail::reduce_indices<both>(
              policy, n, [](std::uint64_t i) { return both(i, i); },
              [&](const both &a, const both &b) {
                return both(
                    comp(*detail::at(first, b.first), *detail::at(first, a.first)) ? b.first
                                                                                   : a.first,
                    comp(*detail::at(first, b.second), *detail::at(first, a.second)) ? a.second
                                                                                     : b.second);
              })
              .value_or(both(n, n));
      return {detail::at(first, found.first), detail::at(first, found.second)};
    } else {
      return detail::in_order(policy, [&]() -> std::pair<It, It> {
        return std::minmax_element(first, last, std::ref(comp));
      });
    }
  });
}

} // namespace weft::inline v0

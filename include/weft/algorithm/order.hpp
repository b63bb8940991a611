// SPDX-License-Identifier: Apache-2.0
// Algorithms that say whether elements are sorted, a heap or partitioned.
#pragma once

#include <weft/algorithm/search.hpp>
#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>

namespace weft::inline v0 {

/// Returns the first element that is less than the one before it.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It is_sorted_until(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (n < 2)
        return last;
      return detail::at(first, 1 + detail::find_index(policy, n - 1, [&](std::uint64_t i) -> bool {
                                 return comp(*detail::at(first, i + 1), *detail::at(first, i));
                               }));
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::is_sorted_until(first, last, std::ref(comp)); });
    }
  });
}

/// Says whether the elements are sorted.
template <policy_type P, iterator_type It, class Compare = std::less<>>
bool is_sorted(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      return weft::is_sorted_until(policy, first, last, std::ref(comp)) == last;
    } else {
      return detail::in_order(
          policy, [&]() -> bool { return std::is_sorted(first, last, std::ref(comp)); });
    }
  });
}

/// Returns the first element that is greater than its parent in a heap.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It is_heap_until(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (n < 2)
        return last;
      return detail::at(first, 1 + detail::find_index(policy, n - 1, [&](std::uint64_t i) -> bool {
                                 return comp(*detail::at(first, i / 2), *detail::at(first, i + 1));
                               }));
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::is_heap_until(first, last, std::ref(comp)); });
    }
  });
}

/// Says whether the elements are a heap.
template <policy_type P, iterator_type It, class Compare = std::less<>>
bool is_heap(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      return weft::is_heap_until(policy, first, last, std::ref(comp)) == last;
    } else {
      return detail::in_order(policy,
                              [&]() -> bool { return std::is_heap(first, last, std::ref(comp)); });
    }
  });
}

/// Says whether the elements that the predicate holds for come before all others.
template <policy_type P, iterator_type It, class Pred>
bool is_partitioned(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const It middle = weft::find_if_not(policy, first, last, std::ref(pred));
      if (middle == last)
        return true;
      return weft::none_of(policy, middle + 1, last, std::ref(pred));
    } else {
      return detail::in_order(
          policy, [&]() -> bool { return std::is_partitioned(first, last, std::ref(pred)); });
    }
  });
}

} // namespace weft::inline v0

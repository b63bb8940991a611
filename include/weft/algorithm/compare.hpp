// SPDX-License-Identifier: Apache-2.0
// Algorithms that compare two ranges.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace weft::inline v0 {

/// Returns the first elements in which two ranges differ; the second is as long as the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
  requires(!std::is_same_v<It2, Pred>)
std::pair<It, It2> mismatch(const P &policy, It first, It last, It2 second, Pred pred = {}) {
  return detail::place(policy, [&]() -> std::pair<It, It2> {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      const std::uint64_t i_found = detail::find_index(policy, n, [&](std::uint64_t i) -> bool {
        return !pred(*detail::at(first, i), *detail::at(second, i));
      });
      return {detail::at(first, i_found), detail::at(second, i_found)};
    } else {
      return detail::in_order(policy, [&]() -> std::pair<It, It2> {
        return std::mismatch(first, last, second, std::ref(pred));
      });
    }
  });
}

/// Returns the first elements in which two ranges differ.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
std::pair<It, It2> mismatch(const P &policy, It first, It last, It2 second, It2 second_end,
                            Pred pred = {}) {
  return detail::place(policy, [&]() -> std::pair<It, It2> {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      const std::uint64_t i_found =
          detail::find_index(policy, std::min(n, m), [&](std::uint64_t i) -> bool {
            return !pred(*detail::at(first, i), *detail::at(second, i));
          });
      return {detail::at(first, i_found), detail::at(second, i_found)};
    } else {
      return detail::in_order(policy, [&]() -> std::pair<It, It2> {
        return std::mismatch(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Says whether two ranges are equal; the second is as long as the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
  requires(!std::is_same_v<It2, Pred>)
bool equal(const P &policy, It first, It last, It2 second, Pred pred = {}) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_index(policy, n, [&](std::uint64_t i) -> bool {
               return !pred(*detail::at(first, i), *detail::at(second, i));
             }) == n;
    } else {
      return detail::in_order(
          policy, [&]() -> bool { return std::equal(first, last, second, std::ref(pred)); });
    }
  });
}

/// Says whether two ranges are equal.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
bool equal(const P &policy, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      return n == m && detail::find_index(policy, n, [&](std::uint64_t i) -> bool {
                         return !pred(*detail::at(first, i), *detail::at(second, i));
                       }) == n;
    } else {
      return detail::in_order(policy, [&]() -> bool {
        return std::equal(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Says whether the first range is less than the second.
template <policy_type P, iterator_type It, iterator_type It2, class Compare = std::less<>>
bool lexicographical_compare(const P &policy, It first, It last, It2 second, It2 second_end,
                             Compare comp = {}) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      const std::uint64_t common = std::min(n, m);
      const std::uint64_t i_found =
          detail::find_index(policy, common, [&](std::uint64_t i) -> bool {
            return comp(*detail::at(first, i), *detail::at(second, i)) ||
                   comp(*detail::at(second, i), *detail::at(first, i));
          });
      if (i_found == common)
        return n < m;
      return detail::with_errors(policy.control(), [&]() -> bool {
        return comp(*detail::at(first, i_found), *detail::at(second, i_found));
      });
    } else {
      return detail::in_order(policy, [&]() -> bool {
        return std::lexicographical_compare(first, last, second, second_end, std::ref(comp));
      });
    }
  });
}

} // namespace weft::inline v0

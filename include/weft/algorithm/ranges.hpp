// SPDX-License-Identifier: Apache-2.0
// The algorithms over ranges.
#pragma once

#include <weft/algorithm/compare.hpp>
#include <weft/algorithm/count.hpp>
#include <weft/algorithm/for_each.hpp>
#include <weft/algorithm/merge.hpp>
#include <weft/algorithm/order.hpp>
#include <weft/algorithm/partition.hpp>
#include <weft/algorithm/search.hpp>
#include <weft/algorithm/set.hpp>
#include <weft/algorithm/sort.hpp>
#include <weft/algorithm/uninitialized.hpp>

#include <ranges>
#include <utility>

namespace weft::inline v0 {

// Each of these takes a range in the place of each pair of iterators.
/// @cond
#define WEFT_ONE_RANGE(name)                                                                       \
  template <policy_type P, std::ranges::range R, class... Rest>                                    \
  decltype(auto) name(const P &policy, R &&range, Rest &&...rest) {                                \
    auto first = std::ranges::begin(range);                                                        \
    return name(policy, first, std::ranges::next(first, std::ranges::end(range)),                  \
                static_cast<Rest &&>(rest)...);                                                    \
  }
#define WEFT_TWO_RANGES(name)                                                                      \
  template <policy_type P, std::ranges::range R, class Second, class... Rest>                      \
  decltype(auto) name(const P &policy, R &&range, Second &&second, Rest &&...rest) {               \
    auto first = std::ranges::begin(range);                                                        \
    auto last = std::ranges::next(first, std::ranges::end(range));                                 \
    if constexpr (std::ranges::range<Second>) {                                                    \
      auto other = std::ranges::begin(second);                                                     \
      return name(policy, first, last, other, std::ranges::next(other, std::ranges::end(second)),  \
                  static_cast<Rest &&>(rest)...);                                                  \
    } else {                                                                                       \
      return name(policy, first, last, static_cast<Second &&>(second),                             \
                  static_cast<Rest &&>(rest)...);                                                  \
    }                                                                                              \
  }
/// @endcond
WEFT_ONE_RANGE(for_each)
WEFT_ONE_RANGE(copy)
WEFT_ONE_RANGE(move)
WEFT_ONE_RANGE(reverse_copy)
WEFT_ONE_RANGE(fill)
WEFT_ONE_RANGE(generate)
WEFT_ONE_RANGE(replace_if)
WEFT_ONE_RANGE(replace)
WEFT_ONE_RANGE(replace_copy_if)
WEFT_ONE_RANGE(replace_copy)
WEFT_ONE_RANGE(reverse)
WEFT_ONE_RANGE(find_if)
WEFT_ONE_RANGE(find_if_not)
WEFT_ONE_RANGE(find)
WEFT_ONE_RANGE(all_of)
WEFT_ONE_RANGE(any_of)
WEFT_ONE_RANGE(none_of)
WEFT_ONE_RANGE(adjacent_find)
WEFT_ONE_RANGE(search_n)
WEFT_ONE_RANGE(count_if)
WEFT_ONE_RANGE(count)
WEFT_ONE_RANGE(min_element)
WEFT_ONE_RANGE(max_element)
WEFT_ONE_RANGE(minmax_element)
WEFT_ONE_RANGE(is_sorted_until)
WEFT_ONE_RANGE(is_sorted)
WEFT_ONE_RANGE(is_heap_until)
WEFT_ONE_RANGE(is_heap)
WEFT_ONE_RANGE(is_partitioned)
WEFT_ONE_RANGE(copy_if)
WEFT_ONE_RANGE(remove_copy_if)
WEFT_ONE_RANGE(remove_copy)
WEFT_ONE_RANGE(unique_copy)
WEFT_ONE_RANGE(remove_if)
WEFT_ONE_RANGE(remove)
WEFT_ONE_RANGE(unique)
WEFT_ONE_RANGE(partition)
WEFT_ONE_RANGE(stable_partition)
WEFT_ONE_RANGE(partition_copy)
WEFT_ONE_RANGE(sort)
WEFT_ONE_RANGE(stable_sort)
WEFT_ONE_RANGE(uninitialized_copy)
WEFT_ONE_RANGE(uninitialized_move)
WEFT_ONE_RANGE(uninitialized_fill)
WEFT_ONE_RANGE(uninitialized_default_construct)
WEFT_ONE_RANGE(uninitialized_value_construct)
WEFT_ONE_RANGE(destroy)
WEFT_TWO_RANGES(find_first_of)
WEFT_TWO_RANGES(search)
WEFT_TWO_RANGES(find_end)
WEFT_TWO_RANGES(mismatch)
WEFT_TWO_RANGES(equal)
WEFT_TWO_RANGES(lexicographical_compare)
WEFT_TWO_RANGES(merge)
WEFT_TWO_RANGES(includes)
WEFT_TWO_RANGES(set_union)
WEFT_TWO_RANGES(set_intersection)
WEFT_TWO_RANGES(set_difference)
WEFT_TWO_RANGES(set_symmetric_difference)
WEFT_TWO_RANGES(partial_sort_copy)
WEFT_TWO_RANGES(swap_ranges)
#undef WEFT_ONE_RANGE
#undef WEFT_TWO_RANGES

/// Writes f of the elements of a range, or of two.
template <policy_type P, std::ranges::range R, class... Rest>
decltype(auto) transform(const P &policy, R &&range, Rest &&...rest) {
  auto first = std::ranges::begin(range);
  auto last = std::ranges::next(first, std::ranges::end(range));
  if constexpr (sizeof...(Rest) == 3)
    return [&](auto &&second, auto &&...others) {
      if constexpr (std::ranges::range<decltype(second)>)
        return weft::transform(policy, first, last, std::ranges::begin(second),
                               static_cast<decltype(others) &&>(others)...);
      else
        return weft::transform(policy, first, last, second,
                               static_cast<decltype(others) &&>(others)...);
    }(static_cast<Rest &&>(rest)...);
  else
    return weft::transform(policy, first, last, static_cast<Rest &&>(rest)...);
}

} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: the parallel algorithms and their policies. Each takes iterators or ranges, so hpx::ranges has the
// same functions.
#pragma once

#include <hpx/execution.hpp>
#include <hpx/future.hpp>
#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>

#include <iterator>
#include <type_traits>

namespace hpx {
namespace detail {
/// Says whether an argument is a policy, also one that makes a task.
template <class P>
inline constexpr bool is_policy = requires(const std::remove_cvref_t<P> &p) { p.control(); } ||
                                  requires(const std::remove_cvref_t<P> &p) { p.within(); };
/// Returns what comes `n` behind a number or an iterator.
template <class First, class Size>
First behind(First first, Size n) {
  if constexpr (std::is_integral_v<First>)
    return static_cast<First>(first + static_cast<First>(n));
  else
    return std::next(first, static_cast<typename std::iterator_traits<First>::difference_type>(n));
}
} // namespace detail

// Each comes with a policy, which Weft has, and without one: then it runs in order.
#define HPX_WEFT_ALGORITHM(name)                                                                   \
  using weft::name;                                                                                \
  template <class First, class... Rest>                                                            \
    requires(!detail::is_policy<First>)                                                            \
  decltype(auto) name(First &&first, Rest &&...rest) {                                             \
    return weft::name(weft::execution::seq, static_cast<First &&>(first),                          \
                      static_cast<Rest &&>(rest)...);                                              \
  }
#define HPX_WEFT_ALGORITHMS                                                                        \
  HPX_WEFT_ALGORITHM(adjacent_difference)                                                          \
  HPX_WEFT_ALGORITHM(adjacent_find)                                                                \
  HPX_WEFT_ALGORITHM(all_of)                                                                       \
  HPX_WEFT_ALGORITHM(any_of)                                                                       \
  HPX_WEFT_ALGORITHM(copy)                                                                         \
  HPX_WEFT_ALGORITHM(copy_if)                                                                      \
  HPX_WEFT_ALGORITHM(copy_n)                                                                       \
  HPX_WEFT_ALGORITHM(count)                                                                        \
  HPX_WEFT_ALGORITHM(count_if)                                                                     \
  HPX_WEFT_ALGORITHM(destroy)                                                                      \
  HPX_WEFT_ALGORITHM(destroy_n)                                                                    \
  HPX_WEFT_ALGORITHM(equal)                                                                        \
  HPX_WEFT_ALGORITHM(exclusive_scan)                                                               \
  HPX_WEFT_ALGORITHM(fill)                                                                         \
  HPX_WEFT_ALGORITHM(fill_n)                                                                       \
  HPX_WEFT_ALGORITHM(find)                                                                         \
  HPX_WEFT_ALGORITHM(find_end)                                                                     \
  HPX_WEFT_ALGORITHM(find_first_of)                                                                \
  HPX_WEFT_ALGORITHM(find_if)                                                                      \
  HPX_WEFT_ALGORITHM(find_if_not)                                                                  \
  HPX_WEFT_ALGORITHM(for_each)                                                                     \
  HPX_WEFT_ALGORITHM(for_each_n)                                                                   \
  HPX_WEFT_ALGORITHM(generate)                                                                     \
  HPX_WEFT_ALGORITHM(generate_n)                                                                   \
  HPX_WEFT_ALGORITHM(includes)                                                                     \
  HPX_WEFT_ALGORITHM(inclusive_scan)                                                               \
  HPX_WEFT_ALGORITHM(inplace_merge)                                                                \
  HPX_WEFT_ALGORITHM(is_heap)                                                                      \
  HPX_WEFT_ALGORITHM(is_heap_until)                                                                \
  HPX_WEFT_ALGORITHM(is_partitioned)                                                               \
  HPX_WEFT_ALGORITHM(is_sorted)                                                                    \
  HPX_WEFT_ALGORITHM(is_sorted_until)                                                              \
  HPX_WEFT_ALGORITHM(lexicographical_compare)                                                      \
  HPX_WEFT_ALGORITHM(max_element)                                                                  \
  HPX_WEFT_ALGORITHM(merge)                                                                        \
  HPX_WEFT_ALGORITHM(min_element)                                                                  \
  HPX_WEFT_ALGORITHM(minmax_element)                                                               \
  HPX_WEFT_ALGORITHM(mismatch)                                                                     \
  HPX_WEFT_ALGORITHM(move)                                                                         \
  HPX_WEFT_ALGORITHM(none_of)                                                                      \
  HPX_WEFT_ALGORITHM(nth_element)                                                                  \
  HPX_WEFT_ALGORITHM(partial_sort)                                                                 \
  HPX_WEFT_ALGORITHM(partial_sort_copy)                                                            \
  HPX_WEFT_ALGORITHM(partition)                                                                    \
  HPX_WEFT_ALGORITHM(partition_copy)                                                               \
  HPX_WEFT_ALGORITHM(reduce)                                                                       \
  HPX_WEFT_ALGORITHM(remove)                                                                       \
  HPX_WEFT_ALGORITHM(remove_copy)                                                                  \
  HPX_WEFT_ALGORITHM(remove_copy_if)                                                               \
  HPX_WEFT_ALGORITHM(remove_if)                                                                    \
  HPX_WEFT_ALGORITHM(replace)                                                                      \
  HPX_WEFT_ALGORITHM(replace_copy)                                                                 \
  HPX_WEFT_ALGORITHM(replace_copy_if)                                                              \
  HPX_WEFT_ALGORITHM(replace_if)                                                                   \
  HPX_WEFT_ALGORITHM(reverse)                                                                      \
  HPX_WEFT_ALGORITHM(reverse_copy)                                                                 \
  HPX_WEFT_ALGORITHM(rotate)                                                                       \
  HPX_WEFT_ALGORITHM(rotate_copy)                                                                  \
  HPX_WEFT_ALGORITHM(search)                                                                       \
  HPX_WEFT_ALGORITHM(search_n)                                                                     \
  HPX_WEFT_ALGORITHM(set_difference)                                                               \
  HPX_WEFT_ALGORITHM(set_intersection)                                                             \
  HPX_WEFT_ALGORITHM(set_symmetric_difference)                                                     \
  HPX_WEFT_ALGORITHM(set_union)                                                                    \
  HPX_WEFT_ALGORITHM(sort)                                                                         \
  HPX_WEFT_ALGORITHM(stable_partition)                                                             \
  HPX_WEFT_ALGORITHM(stable_sort)                                                                  \
  HPX_WEFT_ALGORITHM(swap_ranges)                                                                  \
  HPX_WEFT_ALGORITHM(transform)                                                                    \
  HPX_WEFT_ALGORITHM(transform_exclusive_scan)                                                     \
  HPX_WEFT_ALGORITHM(transform_inclusive_scan)                                                     \
  HPX_WEFT_ALGORITHM(transform_reduce)                                                             \
  HPX_WEFT_ALGORITHM(uninitialized_copy)                                                           \
  HPX_WEFT_ALGORITHM(uninitialized_copy_n)                                                         \
  HPX_WEFT_ALGORITHM(uninitialized_default_construct)                                              \
  HPX_WEFT_ALGORITHM(uninitialized_default_construct_n)                                            \
  HPX_WEFT_ALGORITHM(uninitialized_fill)                                                           \
  HPX_WEFT_ALGORITHM(uninitialized_fill_n)                                                         \
  HPX_WEFT_ALGORITHM(uninitialized_move)                                                           \
  HPX_WEFT_ALGORITHM(uninitialized_move_n)                                                         \
  HPX_WEFT_ALGORITHM(uninitialized_value_construct)                                                \
  HPX_WEFT_ALGORITHM(uninitialized_value_construct_n)                                              \
  HPX_WEFT_ALGORITHM(unique)                                                                       \
  HPX_WEFT_ALGORITHM(unique_copy)

HPX_WEFT_ALGORITHMS

namespace ranges {
HPX_WEFT_ALGORITHMS
}

namespace experimental {
HPX_WEFT_ALGORITHM(for_loop)
HPX_WEFT_ALGORITHM(for_loop_strided)
/// @{ Runs a loop over `n` numbers or iterators from `first` on.
template <class Policy, class First, class Size, class... Rest>
  requires detail::is_policy<Policy>
decltype(auto) for_loop_n(Policy &&policy, First first, Size n, Rest &&...rest) {
  return weft::for_loop(static_cast<Policy &&>(policy), first, detail::behind(first, n),
                        static_cast<Rest &&>(rest)...);
}
template <class First, class Size, class... Rest>
  requires(!detail::is_policy<First>)
decltype(auto) for_loop_n(First first, Size n, Rest &&...rest) {
  return for_loop_n(weft::execution::seq, first, n, static_cast<Rest &&>(rest)...);
}
/// @}
using weft::induction;
using weft::reduction_bit_and;
using weft::reduction_bit_or;
using weft::reduction_bit_xor;
using weft::reduction_max;
using weft::reduction_min;
using weft::reduction_multiplies;
using weft::reduction_plus;
/// Gives each block of a loop its own `into`, which begins as the identity; they are combined by `op`.
template <class T, class Op>
auto reduction(T &into, const T &identity, Op op) {
  return weft::loop_reduction(into, identity, op);
}
} // namespace experimental

namespace parallel {
HPX_WEFT_ALGORITHMS
using experimental::reduction;
using weft::for_loop;
using weft::for_loop_strided;
using weft::induction;
using weft::execution::par;
using weft::execution::seq;
using weft::execution::task;
namespace execution = hpx::execution;
} // namespace parallel
#undef HPX_WEFT_ALGORITHMS
#undef HPX_WEFT_ALGORITHM

} // namespace hpx

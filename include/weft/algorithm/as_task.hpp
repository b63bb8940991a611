// SPDX-License-Identifier: Apache-2.0
// The algorithms as tasks: with par(task) a call returns the future of its result. Iterators and
// values are copied, a range that the caller has is not: it stays until the result is there.
#pragma once

#include <weft/algorithm/compare.hpp>
#include <weft/algorithm/count.hpp>
#include <weft/algorithm/for_each.hpp>
#include <weft/algorithm/for_loop.hpp>
#include <weft/algorithm/merge.hpp>
#include <weft/algorithm/order.hpp>
#include <weft/algorithm/partition.hpp>
#include <weft/algorithm/ranges.hpp>
#include <weft/algorithm/search.hpp>
#include <weft/algorithm/set.hpp>
#include <weft/algorithm/sort.hpp>
#include <weft/algorithm/uninitialized.hpp>
#include <weft/detail/as_task.hpp>

namespace weft::inline v0 {

/// @cond
WEFT_AS_TASK(for_each, 1)
WEFT_AS_TASK(for_each_n, 1)
// One range, its output and a function, or two ranges
WEFT_AS_TASK(transform, sizeof...(Args) == 4 ? 2 : 1)
WEFT_AS_TASK(copy, 1)
WEFT_AS_TASK(move, 1)
WEFT_AS_TASK(reverse_copy, 1)
WEFT_AS_TASK(copy_n, 1)
WEFT_AS_TASK(fill, 1)
WEFT_AS_TASK(fill_n, 1)
WEFT_AS_TASK(generate, 1)
WEFT_AS_TASK(generate_n, 1)
WEFT_AS_TASK(replace_if, 1)
WEFT_AS_TASK(replace, 1)
WEFT_AS_TASK(replace_copy_if, 1)
WEFT_AS_TASK(replace_copy, 1)
WEFT_AS_TASK(swap_ranges, 2)
WEFT_AS_TASK(reverse, 1)
WEFT_AS_TASK(rotate, 1)
WEFT_AS_TASK(rotate_copy, 1)
WEFT_AS_TASK(find_if, 1)
WEFT_AS_TASK(find_if_not, 1)
WEFT_AS_TASK(find, 1)
WEFT_AS_TASK(all_of, 1)
WEFT_AS_TASK(any_of, 1)
WEFT_AS_TASK(none_of, 1)
WEFT_AS_TASK(find_first_of, 2)
WEFT_AS_TASK(adjacent_find, 1)
WEFT_AS_TASK(search, 2)
WEFT_AS_TASK(find_end, 2)
WEFT_AS_TASK(search_n, 1)
WEFT_AS_TASK(mismatch, 2)
WEFT_AS_TASK(equal, 2)
WEFT_AS_TASK(lexicographical_compare, 2)
WEFT_AS_TASK(count_if, 1)
WEFT_AS_TASK(count, 1)
WEFT_AS_TASK(min_element, 1)
WEFT_AS_TASK(max_element, 1)
WEFT_AS_TASK(minmax_element, 1)
WEFT_AS_TASK(is_sorted_until, 1)
WEFT_AS_TASK(is_sorted, 1)
WEFT_AS_TASK(is_heap_until, 1)
WEFT_AS_TASK(is_heap, 1)
WEFT_AS_TASK(is_partitioned, 1)
WEFT_AS_TASK(copy_if, 1)
WEFT_AS_TASK(remove_copy_if, 1)
WEFT_AS_TASK(remove_copy, 1)
WEFT_AS_TASK(unique_copy, 1)
WEFT_AS_TASK(remove_if, 1)
WEFT_AS_TASK(remove, 1)
WEFT_AS_TASK(unique, 1)
WEFT_AS_TASK(partition, 1)
WEFT_AS_TASK(stable_partition, 1)
WEFT_AS_TASK(partition_copy, 1)
WEFT_AS_TASK(sort, 1)
WEFT_AS_TASK(stable_sort, 1)
WEFT_AS_TASK(partial_sort, 1)
WEFT_AS_TASK(partial_sort_copy, 2)
WEFT_AS_TASK(nth_element, 1)
WEFT_AS_TASK(merge, 2)
WEFT_AS_TASK(inplace_merge, 1)
WEFT_AS_TASK(includes, 2)
WEFT_AS_TASK(set_union, 2)
WEFT_AS_TASK(set_intersection, 2)
WEFT_AS_TASK(set_difference, 2)
WEFT_AS_TASK(set_symmetric_difference, 2)
WEFT_AS_TASK(uninitialized_copy, 1)
WEFT_AS_TASK(uninitialized_move, 1)
WEFT_AS_TASK(uninitialized_copy_n, 1)
WEFT_AS_TASK(uninitialized_move_n, 1)
WEFT_AS_TASK(uninitialized_fill, 1)
WEFT_AS_TASK(uninitialized_fill_n, 1)
WEFT_AS_TASK(uninitialized_default_construct, 1)
WEFT_AS_TASK(uninitialized_default_construct_n, 1)
WEFT_AS_TASK(uninitialized_value_construct, 1)
WEFT_AS_TASK(uninitialized_value_construct_n, 1)
WEFT_AS_TASK(destroy, 1)
WEFT_AS_TASK(destroy_n, 1)
WEFT_AS_TASK(for_loop_strided, 1)
WEFT_AS_TASK(for_loop, 1)
/// @endcond

} // namespace weft::inline v0

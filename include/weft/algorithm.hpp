// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms of C++17 on Weft: the names, arguments and results of the standard's, with
// a policy of weft::execution in front, over iterators or ranges.
//
// Where the policy is parallel and all iterators are of random access, workers share the elements;
// otherwise the call runs in order. Element functions are called by several workers at once, at
// most as often as the standard says, and may not wait for each other. docs/user/algorithms.md is
// the tutorial.
#pragma once

#include <weft/algorithm/as_task.hpp>
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
#include <weft/range.hpp>

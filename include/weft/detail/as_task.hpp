// SPDX-License-Identifier: Apache-2.0
// Algorithms as tasks: what par(task) does with the arguments of a call.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/future/future.hpp>

#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::inline v0::detail {

/// Names what the task keeps of an argument: a reference to a range that the caller has, where the
/// algorithm takes a range, and a copy of anything else.
template <bool MayBeRange, class A>
using kept_argument =
    std::conditional_t<MayBeRange && std::is_lvalue_reference_v<A> && std::ranges::range<A> &&
                           !std::ranges::view<std::remove_cvref_t<A>>,
                       A, std::decay_t<A>>;

/// Calls an algorithm with the policy within and these arguments in a task. The first `Ranges`
/// arguments may be ranges; others are values, even those that have elements.
template <std::size_t Ranges, class P, class Call, class... Args>
auto call_as_task(const execution::task_policy<P> &policy, Call call, Args &&...args) {
  const auto keep = [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    return std::tuple<kept_argument<(Is < Ranges), Args>...>(static_cast<Args &&>(args)...);
  };
  return async(
      [call, within = policy.within(), kept = keep(std::index_sequence_for<Args...>())]() mutable {
        return std::apply([&](auto &...each) { return call(within, each...); }, kept);
      });
}

} // namespace weft::inline v0::detail

/// @cond
#define WEFT_AS_TASK(name, ranges)                                                                 \
  template <class P, class... Args>                                                                \
  auto name(const execution::task_policy<P> &policy, Args &&...args) {                             \
    return detail::call_as_task<ranges>(                                                           \
        policy, [](auto &...each) { return weft::name(each...); }, static_cast<Args &&>(args)...); \
  }
/// @endcond

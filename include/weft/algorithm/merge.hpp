// SPDX-License-Identifier: Apache-2.0
// Merges of sorted ranges.
#pragma once

#include <weft/algorithm/uninitialized.hpp>
#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

namespace weft::inline v0 {

/// Merges two sorted ranges; equal elements of the first come first.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out merge(const P &policy, It first, It last, It2 second, It2 second_end, Out out,
          Compare comp = {}) {
  const auto serial = [&]() -> Out {
    return std::merge(first, last, second, second_end, out, std::ref(comp));
  };
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n + m))
        return detail::remembered<tag>(policy, n + m, serial);
      const detail::shared_call timed(detail::site_of<tag>, n + m);
      auto leaf = [](It a, It a_end, It2 b, It2 b_end, Out to, Compare &c) {
        std::merge(a, a_end, b, b_end, to, std::ref(c));
      };
      const detail::pieces q = detail::cut(policy.control(), n + m, detail::k_least_merge);
      detail::with_errors(policy.control(), [&] {
        detail::merge_runs(first, n, second, m, out, comp, leaf,
                           std::max<std::uint64_t>((n + m) / q.count, 2));
      });
      return detail::at(out, n + m);
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Merges two sorted neighbours; equal elements of the first come first.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void inplace_merge(const P &policy, It first, It middle, It last, Compare comp = {}) {
  const auto serial = [&]() -> void {
    return std::inplace_merge(first, middle, last, std::ref(comp));
  };
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      using value = detail::value_of<It>;
      if (!detail::moves_safely<value> || detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      detail::with_errors_of_loops(policy.control(), [&] {
        detail::scratch<value> buffer(n);
        value *const from = buffer.data();
        weft::uninitialized_move(policy, first, last, from);
        struct destroyer {
          value *begin;
          std::uint64_t count;
          ~destroyer() { std::destroy_n(begin, count); }
        } const at_end{from, n};
        const std::uint64_t half = detail::count_between(first, middle);
        auto leaf = [](value *a, value *a_end, value *b, value *b_end, It to, Compare &c) {
          detail::merge_by_moves(a, a_end, b, b_end, to, c);
        };
        const detail::pieces q = detail::cut(policy.control(), n, detail::k_least_merge);
        detail::merge_runs(from, half, from + half, n - half, first, comp, leaf,
                           std::max<std::uint64_t>(n / q.count, 2));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

} // namespace weft::inline v0

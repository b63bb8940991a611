// SPDX-License-Identifier: Apache-2.0
// Sorting and selection.
#pragma once

#include <weft/algorithm/partition.hpp>
#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace weft::inline v0 {

/// Sorts the elements. Trivially copyable ones of at most 16 bytes, in contiguous memory, are sorted
/// without branches that depend on them (detail/quicksort.hpp).
template <policy_type P, iterator_type It, class Compare = std::less<>>
void sort(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      auto leaf = [](auto a, auto b, Compare &c) { detail::sort_run(a, b, c); };
      detail::sort_range<decltype(leaf)>(policy.control(), detail::pointer_of(first), n, comp, leaf);
    } else {
      return detail::in_order(policy,
                              [&]() -> void { return std::sort(first, last, std::ref(comp)); });
    }
  });
}

/// Sorts the elements; equal ones keep their order.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void stable_sort(const P &policy, It first, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      auto leaf = [](auto a, auto b, Compare &c) { std::stable_sort(a, b, std::ref(c)); };
      detail::sort_range<decltype(leaf)>(policy.control(), detail::pointer_of(first), n, comp, leaf);
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::stable_sort(first, last, std::ref(comp)); });
    }
  });
}

/// Puts the least elements, as many as there are before `middle`, to the front, sorted.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void partial_sort(const P &policy, It first, It middle, It last, Compare comp = {}) {
  const auto serial = [&]() -> void {
    return std::partial_sort(first, middle, last, std::ref(comp));
  };
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      const std::uint64_t k = detail::count_between(first, middle);
      struct tag {};
      if (k == 0)
        return;
      if (n / 4 < k)
        return weft::sort(policy, first, last, std::ref(comp));
      if (n < detail::k_least_sort || detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      auto leaf = [](It a, It b, std::uint64_t front, Compare &c) {
        std::partial_sort(a, detail::at(a, front), b, std::ref(c));
      };
      detail::with_errors(policy.control(), [&] {
        detail::select_range(
            first, n, k, detail::cut(policy.control(), n, detail::k_least_piece).count, comp, leaf);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Copies the least elements, as many as there is room for, sorted.
template <policy_type P, iterator_type It, class Out, class Compare = std::less<>>
Out partial_sort_copy(const P &policy, It first, It last, Out out, Out out_end, Compare comp = {}) {
  const auto serial = [&]() -> Out {
    return std::partial_sort_copy(first, last, out, out_end, std::ref(comp));
  };
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      const std::uint64_t k = std::min(n, detail::count_between(out, out_end));
      struct tag {};
      if (k == 0 || detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> Out {
        std::vector<detail::value_of<It>> all(first, last);
        weft::partial_sort(policy, all.begin(), detail::at(all.begin(), k), all.end(),
                           std::ref(comp));
        return std::move(all.begin(), detail::at(all.begin(), k), out);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Puts the element that is at `nth` in the sorted order there, those that are less before it.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void nth_element(const P &policy, It first, It nth, It last, Compare comp = {}) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      return detail::with_errors_of_loops(policy.control(), [&]() -> void {
        struct tag {};
        constexpr bool safe = detail::moves_safely<detail::value_of<It>> &&
                              std::is_copy_constructible_v<detail::value_of<It>>;
        if constexpr (safe) {
          // Pivots that part badly again and again leave the rest to std::nth_element, which is bounded.
          auto rounds_left =
              2 * static_cast<unsigned>(std::bit_width(detail::count_between(first, last)));
          while (nth != last && first != last && rounds_left-- != 0 &&
                 detail::count_between(first, last) > 16 * detail::k_least_piece &&
                 !detail::stays_in_order<tag>(policy, detail::count_between(first, last))) {
            const std::uint64_t n = detail::count_between(first, last);
            It sample[9];
            for (std::uint64_t i = 0; i < 9; ++i)
              sample[i] = detail::at(first, n / 9 * i + n / 18);
            std::sort(sample, sample + 9, [&](It a, It b) { return comp(*a, *b); });
            const detail::value_of<It> pivot(*sample[4]);
            const It less =
                weft::partition(policy, first, last, [&](const auto &a) { return comp(a, pivot); });
            if (nth < less) {
              last = less;
              continue;
            }
            const It greater =
                weft::partition(policy, less, last, [&](const auto &a) { return !comp(pivot, a); });
            if (nth < greater)
              return;
            first = greater;
          }
        }
        const std::uint64_t n = detail::count_between(first, last);
        detail::remembered<tag>(policy, n,
                                [&] { std::nth_element(first, nth, last, std::ref(comp)); });
      });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::nth_element(first, nth, last, std::ref(comp)); });
    }
  });
}

} // namespace weft::inline v0

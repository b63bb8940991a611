// SPDX-License-Identifier: Apache-2.0
// Set operations on sorted ranges.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace detail {

/// Cuts two sorted ranges into pieces such that equal elements are in one piece.
template <class A, class B, class Compare>
std::vector<std::pair<std::uint64_t, std::uint64_t>> cut_sorted(const loop_control &control, A a,
                                                                std::uint64_t na, B b,
                                                                std::uint64_t nb, Compare &comp) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bounds{{0, 0}};
  const pieces q = cut(control, na, k_least_piece);
  for (std::uint64_t i = 1; i < q.count; ++i) {
    const auto &pivot = *at(a, q.bound(i));
    const std::uint64_t in_a = count_between(a, std::lower_bound(a, at(a, na), pivot, comp)),
                        in_b = count_between(b, std::lower_bound(b, at(b, nb), pivot, comp));
    if (in_a > bounds.back().first || in_b > bounds.back().second)
      bounds.emplace_back(in_a, in_b);
  }
  bounds.emplace_back(na, nb);
  return bounds;
}

/// Counts what is written.
struct counting_output {
  using iterator_category = std::output_iterator_tag;
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = void;
  std::uint64_t count = 0;
  struct sink {
    template <class T>
    void operator=(T &&) const noexcept {}
  };
  sink operator*() const noexcept { return {}; }
  counting_output &operator++() noexcept {
    ++count;
    return *this;
  }
  counting_output operator++(int) noexcept {
    counting_output before = *this;
    ++count;
    return before;
  }
};

/// Runs a set operation on pieces: counts first, then writes. So comparisons are made twice, and
/// two workers alone would gain nothing.
template <class P, class A, class B, class Out, class Compare, class Op>
Out set_operation(const P &policy, A a, A a_end, B b, B b_end, Out out, Compare comp, Op op) {
  const std::uint64_t na = count_between(a, a_end), nb = count_between(b, b_end);
  const bool asked = policy.control().grain != 0 || policy.control().one_block_each;
  if (na < 2 || (!asked && loop_workers() < 3) || stays_in_order<Op>(policy, na + nb))
    return remembered<Op>(policy, na + nb, [&] { return op(a, a_end, b, b_end, out, comp); });
  const shared_call timed(site_of<Op>, na + nb);
  return with_errors_of_loops(policy.control(), [&] {
    const auto bounds = cut_sorted(policy.control(), a, na, b, nb, comp);
    const std::uint64_t n = bounds.size() - 1;
    std::vector<std::uint64_t> to(n + 1, 0);
    const auto piece = [&](std::uint64_t i, auto target) {
      return op(at(a, bounds[i].first), at(a, bounds[i + 1].first), at(b, bounds[i].second),
                at(b, bounds[i + 1].second), target, comp);
    };
    for_pieces(policy.control(), n,
               [&](std::uint64_t i) { to[i + 1] = piece(i, counting_output{}).count; });
    for (std::uint64_t i = 0; i < n; ++i)
      to[i + 1] += to[i];
    for_pieces(policy.control(), n, [&](std::uint64_t i) { piece(i, at(out, to[i])); });
    return at(out, to[n]);
  });
}

/// Runs a set operation where the policy says, on pieces where all iterators allow it.
template <class P, class A, class B, class Out, class Compare, class Op>
Out set_algorithm(const P &policy, A a, A a_end, B b, B b_end, Out out, Compare &comp, Op op) {
  return place(policy, [&]() -> Out {
    if constexpr (shares<P, A, B, Out>)
      return set_operation(policy, a, a_end, b, b_end, out, std::ref(comp), op);
    else
      return in_order(policy, [&]() -> Out { return op(a, a_end, b, b_end, out, std::ref(comp)); });
  });
}

} // namespace detail

/// Says whether each element of the second sorted range is in the first.
template <policy_type P, iterator_type It, iterator_type It2, class Compare = std::less<>>
bool includes(const P &policy, It first, It last, It2 second, It2 second_end, Compare comp = {}) {
  const auto serial = [&]() -> bool {
    return std::includes(first, last, second, second_end, std::ref(comp));
  };
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      struct tag {};
      if (m < 2 || detail::stays_in_order<tag>(policy, n + m))
        return detail::remembered<tag>(policy, n + m, serial);
      detail::shared_call timed(detail::site_of<tag>, n + m);
      return detail::with_errors_of_loops(policy.control(), [&] {
        const auto bounds = detail::cut_sorted(policy.control(), second, m, first, n, comp);
        std::atomic<bool> all{true};
        detail::for_pieces(policy.control(), bounds.size() - 1, [&](std::uint64_t i) {
          if (all.load(std::memory_order_relaxed) &&
              !std::includes(detail::at(first, bounds[i].second),
                             detail::at(first, bounds[i + 1].second),
                             detail::at(second, bounds[i].first),
                             detail::at(second, bounds[i + 1].first), std::ref(comp)))
            all.store(false, std::memory_order_relaxed);
        });
        if (!all.load(std::memory_order_relaxed))
          timed.ends_early();
        return all.load(std::memory_order_relaxed);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Writes the union of two sorted ranges.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_union(const P &policy, It first, It last, It2 second, It2 second_end, Out out,
              Compare comp = {}) {
  return detail::set_algorithm(policy, first, last, second, second_end, out, comp,
                               [](auto a, auto a_end, auto b, auto b_end, auto to, auto compare) {
                                 return std::set_union(a, a_end, b, b_end, to, compare);
                               });
}

/// Writes the elements of the first sorted range that are in the second.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_intersection(const P &policy, It first, It last, It2 second, It2 second_end, Out out,
                     Compare comp = {}) {
  return detail::set_algorithm(policy, first, last, second, second_end, out, comp,
                               [](auto a, auto a_end, auto b, auto b_end, auto to, auto compare) {
                                 return std::set_intersection(a, a_end, b, b_end, to, compare);
                               });
}

/// Writes the elements of the first sorted range that are not in the second.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_difference(const P &policy, It first, It last, It2 second, It2 second_end, Out out,
                   Compare comp = {}) {
  return detail::set_algorithm(policy, first, last, second, second_end, out, comp,
                               [](auto a, auto a_end, auto b, auto b_end, auto to, auto compare) {
                                 return std::set_difference(a, a_end, b, b_end, to, compare);
                               });
}

/// Writes the elements that are in one of two sorted ranges only.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_symmetric_difference(const P &policy, It first, It last, It2 second, It2 second_end,
                             Out out, Compare comp = {}) {
  return detail::set_algorithm(policy, first, last, second, second_end, out, comp,
                               [](auto a, auto a_end, auto b, auto b_end, auto to, auto compare) {
                                 return std::set_symmetric_difference(a, a_end, b, b_end, to,
                                                                      compare);
                               });
}

} // namespace weft::inline v0

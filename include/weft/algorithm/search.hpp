// SPDX-License-Identifier: Apache-2.0
// Algorithms that look for an element or a sequence.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

namespace weft::inline v0 {

namespace detail {

/// Returns the index of the first of n elements that look(begin, end) finds in a block, or n. The
/// loop over a block is that of the standard's algorithm that look() calls, so it is as fast.
template <class P, class It, class Look>
std::uint64_t find_element(const P &policy, It first, std::uint64_t n, Look look) {
  return find_block<Look>(
      policy.control(), n, [&look, first](std::uint64_t begin, std::uint64_t count) {
        const It block = at(first, begin);
        return begin + static_cast<std::uint64_t>(look(block, at(block, count)) - block);
      });
}

/// Calls is(i) for the indices from the last one down; returns the last that matches, or n.
template <class P, class F>
std::uint64_t find_last_index(const P &policy, std::uint64_t n, F is) {
  const std::uint64_t from_end =
      find_index(policy, n, [&is, n](std::uint64_t i) { return is(n - 1 - i); });
  return from_end == n ? n : n - 1 - from_end;
}

/// Says of the indices [begin, end) where the first run of so many matches among them begins, and how
/// many match at the begin and at the end, for runs that go on outside.
struct match_runs {
  static constexpr std::uint64_t k_none = UINT64_MAX;
  std::uint64_t begin, end;
  std::uint64_t in_front = 0, at_end = 0;
  std::uint64_t found = k_none;
};

/// Looks for a run of `length` matches, and calls matches(i) at most once for each index.
template <class F>
match_runs look_for_run(std::uint64_t begin, std::uint64_t end, std::uint64_t length, F &matches) {
  match_runs all{begin, end};
  std::uint64_t i = begin;
  while (i != end && i - begin != length && matches(i))
    ++i;
  all.in_front = i - begin;
  if (all.in_front == length) {
    all.found = begin;
    return all;
  }
  if (i == end) {
    all.at_end = all.in_front;
    return all;
  }
  // The run may begin at `first`; what is before `known`, from there on, matches.
  std::uint64_t first = i + 1, known = first;
  while (end - first >= length) {
    const std::uint64_t behind = first + length;
    i = behind;
    while (i != known && matches(i - 1))
      --i;
    if (i == known) {
      all.found = first;
      return all;
    }
    first = i;
    known = behind;
  }
  i = end;
  while (i != known && matches(i - 1))
    --i;
  all.at_end = end - (i == known ? first : i);
  return all;
}

/// Joins what is known of two neighbours.
inline match_runs join_runs(const match_runs &a, const match_runs &b,
                            std::uint64_t length) noexcept {
  match_runs all{a.begin, b.end};
  const bool a_matches = a.in_front == a.end - a.begin, b_matches = b.in_front == b.end - b.begin;
  all.in_front = a_matches ? a.in_front + b.in_front : a.in_front;
  all.at_end = b_matches ? a.at_end + b.at_end : b.at_end;
  if (a.found != match_runs::k_none)
    all.found = a.found;
  else if (a.at_end + b.in_front >= length)
    all.found = a.end - a.at_end;
  else
    all.found = b.found;
  return all;
}

/// Returns the least i of [0, n) with which `length` matches begin, or n. Calls matches(i) at most
/// once for each index.
template <class P, class F>
std::uint64_t find_run(const P &policy, std::uint64_t n, std::uint64_t length, F matches) {
  struct tag {};
  std::atomic<std::uint64_t> bound{n}; // a hint: a run begins here
  const auto look = [&](std::uint64_t first, std::uint64_t count) {
    if (first > bound.load(std::memory_order_relaxed)) // no earlier run has an element from here on
      return match_runs{first, first + count};
    const match_runs all = look_for_run(first, first + count, length, matches);
    std::uint64_t seen = bound.load(std::memory_order_relaxed);
    while (all.found < seen &&
           !bound.compare_exchange_weak(seen, all.found, std::memory_order_relaxed)) {
    }
    return all;
  };
  const auto join = [length](const match_runs &a, const match_runs &b) {
    return join_runs(a, b, length);
  };
  const std::optional<match_runs> all = reduce_blocks<tag, match_runs>(
      policy.control(), n, look,
      [&](match_runs &into, std::uint64_t first, std::uint64_t count) {
        into = join(into, look(first, count));
      },
      join);
  return all && all->found != match_runs::k_none ? all->found : n;
}

} // namespace detail

/// Returns the first element that the predicate holds for.
template <policy_type P, iterator_type It, class Pred>
It find_if(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_element(policy, first, n, [&pred](It begin, It end) {
                          return std::find_if(begin, end, std::ref(pred));
                        }));
    } else {
      return detail::in_order(policy,
                              [&]() -> It { return std::find_if(first, last, std::ref(pred)); });
    }
  });
}

/// Returns the first element that the predicate does not hold for.
template <policy_type P, iterator_type It, class Pred>
It find_if_not(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_element(policy, first, n, [&pred](It begin, It end) {
                          return std::find_if_not(begin, end, std::ref(pred));
                        }));
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::find_if_not(first, last, std::ref(pred)); });
    }
  });
}

/// Returns the first element that is equal to the value.
template <policy_type P, iterator_type It, class T>
It find(const P &policy, It first, It last, const T &value) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_element(policy, first, n, [&value](It begin, It end) {
                          return std::find(begin, end, value);
                        }));
    } else {
      return detail::in_order(policy, [&]() -> It { return std::find(first, last, value); });
    }
  });
}

/// Says whether the predicate holds for all elements.
template <policy_type P, iterator_type It, class Pred>
bool all_of(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_element(policy, first, n, [&pred](It begin, It end) {
               return std::find_if_not(begin, end, std::ref(pred));
             }) == n;
    } else {
      return detail::in_order(policy,
                              [&]() -> bool { return std::all_of(first, last, std::ref(pred)); });
    }
  });
}

/// Says whether the predicate holds for an element.
template <policy_type P, iterator_type It, class Pred>
bool any_of(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_element(policy, first, n, [&pred](It begin, It end) {
               return std::find_if(begin, end, std::ref(pred));
             }) != n;
    } else {
      return detail::in_order(policy,
                              [&]() -> bool { return std::any_of(first, last, std::ref(pred)); });
    }
  });
}

/// Says whether the predicate holds for no element.
template <policy_type P, iterator_type It, class Pred>
bool none_of(const P &policy, It first, It last, Pred pred) {
  return detail::place(policy, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_element(policy, first, n, [&pred](It begin, It end) {
               return std::find_if(begin, end, std::ref(pred));
             }) == n;
    } else {
      return detail::in_order(policy,
                              [&]() -> bool { return std::none_of(first, last, std::ref(pred)); });
    }
  });
}

/// Returns the first element that one of the second range equals.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
It find_first_of(const P &policy, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_index(policy, n, [&](std::uint64_t i) -> bool {
                          return std::any_of(second, second_end, [&](const auto &other) {
                            return pred(*detail::at(first, i), other);
                          });
                        }));
    } else {
      return detail::in_order(policy, [&]() -> It {
        return std::find_first_of(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Returns the first of two neighbours that are equal.
template <policy_type P, iterator_type It, class Pred = std::equal_to<>>
It adjacent_find(const P &policy, It first, It last, Pred pred = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (n < 2)
        return last;
      const std::uint64_t i_found = detail::find_index(policy, n - 1, [&](std::uint64_t i) -> bool {
        return pred(*detail::at(first, i), *detail::at(first, i + 1));
      });
      return i_found == n - 1 ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::adjacent_find(first, last, std::ref(pred)); });
    }
  });
}

/// Returns where the second range first occurs in the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
It search(const P &policy, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      if (m == 0)
        return first;
      if (m > n)
        return last;
      const std::uint64_t places = n - m + 1;
      const std::uint64_t i_found =
          detail::find_index(policy, places, [&](std::uint64_t i) -> bool {
            return std::equal(second, second_end, detail::at(first, i),
                              [&](const auto &b, const auto &a) { return pred(a, b); });
          });
      return i_found == places ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(policy, [&]() -> It {
        return std::search(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Returns where the second range last occurs in the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
It find_end(const P &policy, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      if (m == 0 || m > n)
        return last;
      const std::uint64_t places = n - m + 1;
      const std::uint64_t i_found =
          detail::find_last_index(policy, places, [&](std::uint64_t i) -> bool {
            return std::equal(second, second_end, detail::at(first, i),
                              [&](const auto &b, const auto &a) { return pred(a, b); });
          });
      return i_found == places ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(policy, [&]() -> It {
        return std::find_end(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Returns the first of `count` equal neighbours. Applies the predicate at most once to each element.
template <policy_type P, iterator_type It, class Size, class T, class Pred = std::equal_to<>>
It search_n(const P &policy, It first, It last, Size count, const T &value, Pred pred = {}) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (count <= 0)
        return first;
      const auto m = static_cast<std::uint64_t>(count);
      if (m > n)
        return last;
      return detail::at(first, detail::find_run(policy, n, m, [&](std::uint64_t i) -> bool {
                          return pred(*detail::at(first, i), value);
                        }));
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::search_n(first, last, count, value, std::ref(pred)); });
    }
  });
}

} // namespace weft::inline v0

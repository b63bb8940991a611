// SPDX-License-Identifier: Apache-2.0
// Algorithms that choose elements: copies of some, removal, partitions.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace detail {

/// Keeps the elements i of [first, first + n) with keeps(i) in front, in order. Returns how many.
/// The others are left as after std::remove_if.
template <class P, class It, class Keeps>
std::uint64_t compact(const P &policy, It first, std::uint64_t n, Keeps keeps) {
  scratch<unsigned char> flags(n);
  const pieces q = cut(policy.control(), n, k_least_piece);
  std::vector<std::uint64_t> kept(q.count, 0);
  for_pieces(policy.control(), q.count, [&](std::uint64_t piece) {
    for (std::uint64_t i = q.bound(piece); i < q.bound(piece + 1); ++i)
      flags.data()[i] = keeps(i);
  });
  for_pieces(policy.control(), q.count, [&](std::uint64_t piece) {
    std::uint64_t to = q.bound(piece);
    for (std::uint64_t i = to; i < q.bound(piece + 1); ++i)
      if (flags.data()[i]) {
        if (i != to)
          *at(first, to) = std::move(*at(first, i));
        ++to;
      }
    kept[piece] = to - q.bound(piece);
  });
  std::uint64_t total = kept[0];
  for (std::uint64_t piece = 1; piece < q.count; ++piece) {
    const It from = at(first, q.bound(piece));
    if (total != q.bound(piece))
      std::move(from, at(from, kept[piece]), at(first, total));
    total += kept[piece];
  }
  return total;
}

/// Moves the elements with keeps(i) to the front of [first, first + n) and the others behind them,
/// both in order. Returns how many are in front. Elements move without exceptions.
template <class P, class It, class Keeps>
std::uint64_t split_stably(const P &policy, It first, std::uint64_t n, Keeps keeps) {
  using value = value_of<It>;
  scratch<unsigned char> flags(n);
  scratch<value> buffer(n);
  const std::uint64_t kept = pack_blocks<Keeps>(
      policy.control(), n, flags.data(), keeps,
      [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t total) {
        ::new (static_cast<void *>(buffer.data() + (keep ? rank : total + i - rank)))
            value(std::move(*at(first, i)));
      });
  for_indices(policy, n, [&](std::uint64_t i) {
    *at(first, i) = std::move(buffer.data()[i]);
    std::destroy_at(buffer.data() + i);
  });
  return kept;
}

} // namespace detail

/// Copies the elements that the predicate holds for, in order.
template <policy_type P, iterator_type It, class Out, class Pred>
Out copy_if(const P &policy, It first, It last, Out out, Pred pred) {
  const auto serial = [&]() -> Out { return std::copy_if(first, last, out, std::ref(pred)); };
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            policy.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return pred(*detail::at(first, i)); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Copies the elements that the predicate does not hold for, in order.
template <policy_type P, iterator_type It, class Out, class Pred>
Out remove_copy_if(const P &policy, It first, It last, Out out, Pred pred) {
  const auto serial = [&]() -> Out {
    return std::remove_copy_if(first, last, out, std::ref(pred));
  };
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            policy.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return !pred(*detail::at(first, i)); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Copies the elements that are not equal to the value, in order.
template <policy_type P, iterator_type It, class Out, class T>
Out remove_copy(const P &policy, It first, It last, Out out, const T &value) {
  const auto serial = [&]() -> Out { return std::remove_copy(first, last, out, value); };
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            policy.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return !(*detail::at(first, i) == value); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Writes the first of each run of equal elements.
template <policy_type P, iterator_type It, class Out, class Pred = std::equal_to<>>
Out unique_copy(const P &policy, It first, It last, Out out, Pred pred = {}) {
  const auto serial = [&]() -> Out { return std::unique_copy(first, last, out, std::ref(pred)); };
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            policy.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool {
              return i == 0 || !pred(*detail::at(first, i - 1), *detail::at(first, i));
            },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Moves the elements that the predicate does not hold for to the front, in order, and returns their end.
template <policy_type P, iterator_type It, class Pred>
It remove_if(const P &policy, It first, It last, Pred pred) {
  const auto serial = [&]() -> It { return std::remove_if(first, last, std::ref(pred)); };
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> It {
        return detail::at(first, detail::compact(policy, first, n, [&](std::uint64_t i) -> bool {
                            return !pred(*detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Moves the elements that are not equal to the value to the front, in order, and returns their end.
template <policy_type P, iterator_type It, class T>
It remove(const P &policy, It first, It last, const T &value) {
  const auto serial = [&]() -> It { return std::remove(first, last, value); };
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> It {
        return detail::at(first, detail::compact(policy, first, n, [&](std::uint64_t i) -> bool {
                            return !(*detail::at(first, i) == value);
                          }));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Moves the first of each run of equal elements to the front, and returns their end.
template <policy_type P, iterator_type It, class Pred = std::equal_to<>>
It unique(const P &policy, It first, It last, Pred pred = {}) {
  const auto serial = [&]() -> It { return std::unique(first, last, std::ref(pred)); };
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> It {
        return detail::at(first, detail::compact(policy, first, n, [&](std::uint64_t i) -> bool {
                            return i == 0 ||
                                   !pred(*detail::at(first, i - 1), *detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Moves the elements that the predicate holds for to the front, and returns their end.
template <policy_type P, iterator_type It, class Pred>
It partition(const P &policy, It first, It last, Pred pred) {
  const auto serial = [&]() -> It { return std::partition(first, last, std::ref(pred)); };
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (!detail::moves_safely<detail::value_of<It>> || detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> It {
        return detail::at(first,
                          detail::split_stably(policy, first, n, [&](std::uint64_t i) -> bool {
                            return pred(*detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Does the same as partition, and keeps the order within both parts.
template <policy_type P, iterator_type It, class Pred>
It stable_partition(const P &policy, It first, It last, Pred pred) {
  const auto serial = [&]() -> It { return std::stable_partition(first, last, std::ref(pred)); };
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (!detail::moves_safely<detail::value_of<It>> || detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> It {
        return detail::at(first,
                          detail::split_stably(policy, first, n, [&](std::uint64_t i) -> bool {
                            return pred(*detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

/// Copies the elements that the predicate holds for to one range, the others to another; returns the ends of both.
template <policy_type P, iterator_type It, class Out, class Out2, class Pred>
std::pair<Out, Out2> partition_copy(const P &policy, It first, It last, Out out, Out2 out_false,
                                    Pred pred) {
  const auto serial = [&]() -> std::pair<Out, Out2> {
    return std::partition_copy(first, last, out, out_false, std::ref(pred));
  };
  return detail::place(policy, [&]() -> std::pair<Out, Out2> {
    if constexpr (detail::shares<P, It, Out, Out2>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      using ends = std::pair<Out, Out2>;
      if (detail::stays_in_order<tag>(policy, n))
        return detail::remembered<tag>(policy, n, serial);
      const detail::shared_call timed(detail::site_of<tag>, n);
      return detail::with_errors_of_loops(policy.control(), [&]() -> ends {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            policy.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return pred(*detail::at(first, i)); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
              else
                *detail::at(out_false, i - rank) = *detail::at(first, i);
            });
        return ends(detail::at(out, kept), detail::at(out_false, n - kept));
      });
    } else {
      return detail::in_order(policy, serial);
    }
  });
}

} // namespace weft::inline v0

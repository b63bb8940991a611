// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms of C++17 on Weft: the names, arguments and results of the standard's, with
// a policy of weft::execution in front, over iterators or ranges.
//
// Where the policy is parallel and all iterators are of random access, workers share the elements;
// otherwise the call runs in order. Element functions are called by several workers at once, at
// most as often as the standard says, and may not wait for each other. docs/user/algorithms.md is
// the tutorial.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/range.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <tuple>

namespace weft::inline v0 {

namespace detail {

/// Calls is(i) for the indices from the last one down; returns the last that matches, or n.
template <class P, class F>
std::uint64_t find_last_index(const P &p, std::uint64_t n, F is) {
  const std::uint64_t from_end =
      find_index(p, n, [&is, n](std::uint64_t i) { return is(n - 1 - i); });
  return from_end == n ? n : n - 1 - from_end;
}

/// Constructs n elements by construct(first, count) per block, and destroys them if one fails.
template <class P, class It, class F>
void construct_blocks(const P &p, It to, std::uint64_t n, F construct) {
  std::mutex lock;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> done;
  try {
    for_blocks<F>(p.control(), n, [&](std::uint64_t first, std::uint64_t count) {
      {
        const std::lock_guard guard(lock);
        done.reserve(done.size() + 1);
      }
      construct(first, count);
      const std::lock_guard guard(lock);
      done.emplace_back(first, count);
    });
  } catch (...) {
    for (const auto &[first, count] : done)
      std::destroy(at(to, first), at(to, first + count));
    throw;
  }
}

/// Keeps the elements i of [first, first + n) with keeps(i) in front, in order. Returns how many.
/// The others are left as after std::remove_if.
template <class P, class It, class Keeps>
std::uint64_t compact(const P &p, It first, std::uint64_t n, Keeps keeps) {
  scratch<unsigned char> flags(n);
  const pieces q = cut(p.control(), n, k_least_piece);
  std::vector<std::uint64_t> kept(q.count, 0);
  for_pieces(p.control(), q.count, [&](std::uint64_t piece) {
    for (std::uint64_t i = q.bound(piece); i < q.bound(piece + 1); ++i)
      flags.data()[i] = keeps(i);
  });
  for_pieces(p.control(), q.count, [&](std::uint64_t piece) {
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

/// Says whether a serial call is the better one: nothing to share, or not worth it.
template <class Tag, class P>
bool stays_in_order(const P &p, std::uint64_t n) {
  return n < 2 || !pays(p.control(), site_of<Tag>, static_cast<double>(n));
}

/// Calls the serial algorithm, and remembers what an element takes.
template <class Tag, class F>
decltype(auto) remembered(std::uint64_t n, F &&f) {
  struct clock {
    std::uint64_t begin = loop_clock(), count;
    explicit clock(std::uint64_t c) : count(c) {}
    ~clock() { remember(site_of<Tag>, loop_clock() - begin, static_cast<double>(count)); }
  };
  std::optional<clock> timed;
  if (n > 64 || site_of<Tag>.ns.load(std::memory_order_relaxed) <= 0)
    timed.emplace(n);
  return f();
}

/// Moves the elements with keeps(i) to the front of [first, first + n) and the others behind them,
/// both in order. Returns how many are in front. Elements move without exceptions.
template <class P, class It, class Keeps>
std::uint64_t split_stably(const P &p, It first, std::uint64_t n, Keeps keeps) {
  using value = value_of<It>;
  scratch<unsigned char> flags(n);
  scratch<value> buffer(n);
  const std::uint64_t kept = pack_blocks<Keeps>(
      p.control(), n, flags.data(), keeps,
      [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t total) {
        ::new (static_cast<void *>(buffer.data() + (keep ? rank : total + i - rank)))
            value(std::move(*at(first, i)));
      });
  for_indices(p, n, [&](std::uint64_t i) {
    *at(first, i) = std::move(buffer.data()[i]);
    std::destroy_at(buffer.data() + i);
  });
  return kept;
}

/// Cuts two sorted ranges into pieces such that equal elements are in one piece.
template <class A, class B, class Compare>
std::vector<std::pair<std::uint64_t, std::uint64_t>>
cut_sorted(const loop_control &c, A a, std::uint64_t na, B b, std::uint64_t nb, Compare &comp) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bounds{{0, 0}};
  const pieces q = cut(c, na, k_least_piece);
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
Out set_operation(const P &p, A a, A a_end, B b, B b_end, Out out, Compare comp, Op op) {
  const std::uint64_t na = count_between(a, a_end), nb = count_between(b, b_end);
  const bool asked = p.control().grain != 0 || p.control().one_block_each;
  if (na < 2 || (!asked && loop_workers() < 3) || stays_in_order<Op>(p, na + nb))
    return in_order(p, [&] {
      return remembered<Op>(na + nb, [&] { return op(a, a_end, b, b_end, out, comp); });
    });
  return with_errors(p.control(), [&] {
    const auto bounds = cut_sorted(p.control(), a, na, b, nb, comp);
    const std::uint64_t n = bounds.size() - 1;
    std::vector<std::uint64_t> to(n + 1, 0);
    const auto piece = [&](std::uint64_t i, auto target) {
      return op(at(a, bounds[i].first), at(a, bounds[i + 1].first), at(b, bounds[i].second),
                at(b, bounds[i + 1].second), target, comp);
    };
    for_pieces(p.control(), n,
               [&](std::uint64_t i) { to[i + 1] = piece(i, counting_output{}).count; });
    for (std::uint64_t i = 0; i < n; ++i)
      to[i + 1] += to[i];
    for_pieces(p.control(), n, [&](std::uint64_t i) { piece(i, at(out, to[i])); });
    return at(out, to[n]);
  });
}

} // namespace detail

using detail::iterator_type;
using detail::policy_type;

// ---- each element ----------------------------------------------------------------------------------

/// Calls f for each element.
template <policy_type P, iterator_type It, class F>
void for_each(const P &p, It first, It last, F f) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) { f(*detail::at(first, i)); });
    } else {
      return detail::in_order(
          p, [&]() -> void { return static_cast<void>(std::for_each(first, last, std::ref(f))); });
    }
  });
}

/// Calls f for the first `count` elements, and returns the end of them.
template <policy_type P, iterator_type It, class Size, class F>
It for_each_n(const P &p, It first, Size count, F f) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(p, n, [&](std::uint64_t i) { f(*detail::at(first, i)); });
      return detail::at(first, n);
    } else {
      return detail::in_order(p,
                              [&]() -> It { return std::for_each_n(first, count, std::ref(f)); });
    }
  });
}

/// Writes f of each element, and returns the end of what is written.
template <policy_type P, iterator_type It, class Out, class F>
Out transform(const P &p, It first, It last, Out out, F f) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n,
                          [&](std::uint64_t i) { *detail::at(out, i) = f(*detail::at(first, i)); });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          p, [&]() -> Out { return std::transform(first, last, out, std::ref(f)); });
    }
  });
}

/// Writes f of the elements of two ranges, and returns the end of what is written.
template <policy_type P, iterator_type It, iterator_type It2, class Out, class F>
  requires(!std::is_invocable_v<F &, std::iter_reference_t<It>>) ||
          std::is_invocable_v<F &, std::iter_reference_t<It>, std::iter_reference_t<It2>>
Out transform(const P &p, It first, It last, It2 second, Out out, F f) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) {
        *detail::at(out, i) = f(*detail::at(first, i), *detail::at(second, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          p, [&] { return std::transform(first, last, second, out, std::ref(f)); });
    }
  });
}

/// Assigns the elements to those of another range.
template <policy_type P, iterator_type It, class Out>
Out copy(const P &p, It first, It last, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n,
                          [&](std::uint64_t i) { *detail::at(out, i) = *detail::at(first, i); });
      return detail::at(out, n);
    } else {
      return detail::in_order(p, [&]() -> Out { return std::copy(first, last, out); });
    }
  });
}

/// Moves the elements to those of another range.
template <policy_type P, iterator_type It, class Out>
Out move(const P &p, It first, It last, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(
          p, n, [&](std::uint64_t i) { *detail::at(out, i) = std::move(*detail::at(first, i)); });
      return detail::at(out, n);
    } else {
      return detail::in_order(p, [&]() -> Out { return std::move(first, last, out); });
    }
  });
}

/// Assigns the elements to those of another range, in reverse order.
template <policy_type P, iterator_type It, class Out>
Out reverse_copy(const P &p, It first, It last, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(
          p, n, [&](std::uint64_t i) { *detail::at(out, n - 1 - i) = *detail::at(first, i); });
      return detail::at(out, n);
    } else {
      return detail::in_order(p, [&]() -> Out { return std::reverse_copy(first, last, out); });
    }
  });
}

/// Assigns `count` elements to those of another range.
template <policy_type P, iterator_type It, class Size, class Out>
Out copy_n(const P &p, It first, Size count, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      if (count <= 0)
        return out;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(p, n,
                          [&](std::uint64_t i) { *detail::at(out, i) = *detail::at(first, i); });
      return detail::at(out, n);
    } else {
      return detail::in_order(p, [&]() -> Out { return std::copy_n(first, count, out); });
    }
  });
}

/// Assigns the value to each element.
template <policy_type P, iterator_type It, class T>
void fill(const P &p, It first, It last, const T &value) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) { *detail::at(first, i) = value; });
    } else {
      return detail::in_order(p, [&]() -> void { return std::fill(first, last, value); });
    }
  });
}

/// Assigns the value to `count` elements.
template <policy_type P, iterator_type It, class Size, class T>
It fill_n(const P &p, It first, Size count, const T &value) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(p, n, [&](std::uint64_t i) { *detail::at(first, i) = value; });
      return detail::at(first, n);
    } else {
      return detail::in_order(p, [&]() -> It { return std::fill_n(first, count, value); });
    }
  });
}

/// Assigns what g() returns to each element, in no order.
template <policy_type P, iterator_type It, class G>
void generate(const P &p, It first, It last, G g) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) { *detail::at(first, i) = g(); });
    } else {
      return detail::in_order(p, [&]() -> void { return std::generate(first, last, std::ref(g)); });
    }
  });
}

/// Assigns what g() returns to `count` elements, in no order.
template <policy_type P, iterator_type It, class Size, class G>
It generate_n(const P &p, It first, Size count, G g) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(p, n, [&](std::uint64_t i) { *detail::at(first, i) = g(); });
      return detail::at(first, n);
    } else {
      return detail::in_order(p,
                              [&]() -> It { return std::generate_n(first, count, std::ref(g)); });
    }
  });
}

/// Replaces the elements that the predicate holds for.
template <policy_type P, iterator_type It, class Pred, class T>
void replace_if(const P &p, It first, It last, Pred pred, const T &value) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) {
        if (pred(*detail::at(first, i)))
          *detail::at(first, i) = value;
      });
    } else {
      return detail::in_order(
          p, [&]() -> void { return std::replace_if(first, last, std::ref(pred), value); });
    }
  });
}

/// Replaces the elements that are equal to `old_value`.
template <policy_type P, iterator_type It, class T>
void replace(const P &p, It first, It last, const T &old_value, const T &value) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) {
        if (*detail::at(first, i) == old_value)
          *detail::at(first, i) = value;
      });
    } else {
      return detail::in_order(
          p, [&]() -> void { return std::replace(first, last, old_value, value); });
    }
  });
}

/// Copies, with the value in the place of the elements that the predicate holds for.
template <policy_type P, iterator_type It, class Out, class Pred, class T>
Out replace_copy_if(const P &p, It first, It last, Out out, Pred pred, const T &value) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) {
        if (pred(*detail::at(first, i)))
          *detail::at(out, i) = value;
        else
          *detail::at(out, i) = *detail::at(first, i);
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::replace_copy_if(first, last, out, std::ref(pred), value);
      });
    }
  });
}

/// Copies, with the value in the place of the elements that are equal to `old_value`.
template <policy_type P, iterator_type It, class Out, class T>
Out replace_copy(const P &p, It first, It last, Out out, const T &old_value, const T &value) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) {
        if (*detail::at(first, i) == old_value)
          *detail::at(out, i) = value;
        else
          *detail::at(out, i) = *detail::at(first, i);
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          p, [&]() -> Out { return std::replace_copy(first, last, out, old_value, value); });
    }
  });
}

/// Exchanges the elements of two ranges.
template <policy_type P, iterator_type It, iterator_type It2>
It2 swap_ranges(const P &p, It first, It last, It2 second) {
  return detail::place(p, [&]() -> It2 {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n, [&](std::uint64_t i) {
        std::iter_swap(detail::at(first, i), detail::at(second, i));
      });
      return detail::at(second, n);
    } else {
      return detail::in_order(p, [&]() -> It2 { return std::swap_ranges(first, last, second); });
    }
  });
}

/// Reverses the order of the elements.
template <policy_type P, iterator_type It>
void reverse(const P &p, It first, It last) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(p, n / 2, [&](std::uint64_t i) {
        std::iter_swap(detail::at(first, i), detail::at(first, n - 1 - i));
      });
    } else {
      return detail::in_order(p, [&]() -> void { return std::reverse(first, last); });
    }
  });
}

/// Makes `middle` the first element, and returns where the first one is then.
template <policy_type P, iterator_type It>
It rotate(const P &p, It first, It middle, It last) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (first == middle)
        return last;
      if (middle == last)
        return first;
      weft::reverse(p, first, middle);
      weft::reverse(p, middle, last);
      weft::reverse(p, first, last);
      return first + (last - middle);
    } else {
      return detail::in_order(p, [&]() -> It { return std::rotate(first, middle, last); });
    }
  });
}

/// Assigns the elements to those of another range, with `middle` as the first.
template <policy_type P, iterator_type It, class Out>
Out rotate_copy(const P &p, It first, It middle, It last, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      return weft::copy(p, first, middle, weft::copy(p, middle, last, out));
    } else {
      return detail::in_order(p,
                              [&]() -> Out { return std::rotate_copy(first, middle, last, out); });
    }
  });
}

// ---- search ---------------------------------------------------------------------------------------

/// Returns the first element that the predicate holds for.
template <policy_type P, iterator_type It, class Pred>
It find_if(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_index(p, n, [&](std::uint64_t i) -> bool {
                          return pred(*detail::at(first, i));
                        }));
    } else {
      return detail::in_order(p, [&]() -> It { return std::find_if(first, last, std::ref(pred)); });
    }
  });
}

/// Returns the first element that the predicate does not hold for.
template <policy_type P, iterator_type It, class Pred>
It find_if_not(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_index(p, n, [&](std::uint64_t i) -> bool {
                          return !pred(*detail::at(first, i));
                        }));
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::find_if_not(first, last, std::ref(pred)); });
    }
  });
}

/// Returns the first element that is equal to the value.
template <policy_type P, iterator_type It, class T>
It find(const P &p, It first, It last, const T &value) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_index(p, n, [&](std::uint64_t i) -> bool {
                          return *detail::at(first, i) == value;
                        }));
    } else {
      return detail::in_order(p, [&]() -> It { return std::find(first, last, value); });
    }
  });
}

/// Says whether the predicate holds for all elements.
template <policy_type P, iterator_type It, class Pred>
bool all_of(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_index(
                 p, n, [&](std::uint64_t i) -> bool { return !pred(*detail::at(first, i)); }) == n;
    } else {
      return detail::in_order(p,
                              [&]() -> bool { return std::all_of(first, last, std::ref(pred)); });
    }
  });
}

/// Says whether the predicate holds for an element.
template <policy_type P, iterator_type It, class Pred>
bool any_of(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_index(
                 p, n, [&](std::uint64_t i) -> bool { return pred(*detail::at(first, i)); }) != n;
    } else {
      return detail::in_order(p,
                              [&]() -> bool { return std::any_of(first, last, std::ref(pred)); });
    }
  });
}

/// Says whether the predicate holds for no element.
template <policy_type P, iterator_type It, class Pred>
bool none_of(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_index(
                 p, n, [&](std::uint64_t i) -> bool { return pred(*detail::at(first, i)); }) == n;
    } else {
      return detail::in_order(p,
                              [&]() -> bool { return std::none_of(first, last, std::ref(pred)); });
    }
  });
}

/// Returns the first element that one of the second range equals.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
It find_first_of(const P &p, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::find_index(p, n, [&](std::uint64_t i) -> bool {
                          return std::any_of(second, second_end, [&](const auto &other) {
                            return pred(*detail::at(first, i), other);
                          });
                        }));
    } else {
      return detail::in_order(p, [&]() -> It {
        return std::find_first_of(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Returns the first of two neighbours that are equal.
template <policy_type P, iterator_type It, class Pred = std::equal_to<>>
It adjacent_find(const P &p, It first, It last, Pred pred = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (n < 2)
        return last;
      const std::uint64_t i_found = detail::find_index(p, n - 1, [&](std::uint64_t i) -> bool {
        return pred(*detail::at(first, i), *detail::at(first, i + 1));
      });
      return i_found == n - 1 ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::adjacent_find(first, last, std::ref(pred)); });
    }
  });
}

/// Returns where the second range first occurs in the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
It search(const P &p, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      if (m == 0)
        return first;
      if (m > n)
        return last;
      const std::uint64_t places = n - m + 1;
      const std::uint64_t i_found = detail::find_index(p, places, [&](std::uint64_t i) -> bool {
        return std::equal(second, second_end, detail::at(first, i),
                          [&](const auto &b, const auto &a) { return pred(a, b); });
      });
      return i_found == places ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::search(first, last, second, second_end, std::ref(pred)); });
    }
  });
}

/// Returns where the second range last occurs in the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
It find_end(const P &p, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      if (m == 0 || m > n)
        return last;
      const std::uint64_t places = n - m + 1;
      const std::uint64_t i_found =
          detail::find_last_index(p, places, [&](std::uint64_t i) -> bool {
            return std::equal(second, second_end, detail::at(first, i),
                              [&](const auto &b, const auto &a) { return pred(a, b); });
          });
      return i_found == places ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(p, [&]() -> It {
        return std::find_end(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Returns the first of `count` equal neighbours.
template <policy_type P, iterator_type It, class Size, class T, class Pred = std::equal_to<>>
It search_n(const P &p, It first, It last, Size count, const T &value, Pred pred = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (count <= 0)
        return first;
      const auto m = static_cast<std::uint64_t>(count);
      if (m > n)
        return last;
      const std::uint64_t places = n - m + 1;
      const std::uint64_t i_found = detail::find_index(p, places, [&](std::uint64_t i) -> bool {
        return std::all_of(detail::at(first, i), detail::at(first, i + m),
                           [&](const auto &a) { return pred(a, value); });
      });
      return i_found == places ? last : detail::at(first, i_found);
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::search_n(first, last, count, value, std::ref(pred)); });
    }
  });
}

// ---- comparison -----------------------------------------------------------------------------------

/// Returns the first elements in which two ranges differ; the second is as long as the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
  requires(!std::is_same_v<It2, Pred>)
std::pair<It, It2> mismatch(const P &p, It first, It last, It2 second, Pred pred = {}) {
  return detail::place(p, [&]() -> std::pair<It, It2> {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      const std::uint64_t i_found = detail::find_index(p, n, [&](std::uint64_t i) -> bool {
        return !pred(*detail::at(first, i), *detail::at(second, i));
      });
      return {detail::at(first, i_found), detail::at(second, i_found)};
    } else {
      return detail::in_order(p, [&]() -> std::pair<It, It2> {
        return std::mismatch(first, last, second, std::ref(pred));
      });
    }
  });
}

/// Returns the first elements in which two ranges differ.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
std::pair<It, It2> mismatch(const P &p, It first, It last, It2 second, It2 second_end,
                            Pred pred = {}) {
  return detail::place(p, [&]() -> std::pair<It, It2> {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      const std::uint64_t i_found =
          detail::find_index(p, std::min(n, m), [&](std::uint64_t i) -> bool {
            return !pred(*detail::at(first, i), *detail::at(second, i));
          });
      return {detail::at(first, i_found), detail::at(second, i_found)};
    } else {
      return detail::in_order(p, [&]() -> std::pair<It, It2> {
        return std::mismatch(first, last, second, second_end, std::ref(pred));
      });
    }
  });
}

/// Says whether two ranges are equal; the second is as long as the first.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
  requires(!std::is_same_v<It2, Pred>)
bool equal(const P &p, It first, It last, It2 second, Pred pred = {}) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::find_index(p, n, [&](std::uint64_t i) -> bool {
               return !pred(*detail::at(first, i), *detail::at(second, i));
             }) == n;
    } else {
      return detail::in_order(
          p, [&]() -> bool { return std::equal(first, last, second, std::ref(pred)); });
    }
  });
}

/// Says whether two ranges are equal.
template <policy_type P, iterator_type It, iterator_type It2, class Pred = std::equal_to<>>
bool equal(const P &p, It first, It last, It2 second, It2 second_end, Pred pred = {}) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      return n == m && detail::find_index(p, n, [&](std::uint64_t i) -> bool {
                         return !pred(*detail::at(first, i), *detail::at(second, i));
                       }) == n;
    } else {
      return detail::in_order(
          p, [&]() -> bool { return std::equal(first, last, second, second_end, std::ref(pred)); });
    }
  });
}

/// Says whether the first range is less than the second.
template <policy_type P, iterator_type It, iterator_type It2, class Compare = std::less<>>
bool lexicographical_compare(const P &p, It first, It last, It2 second, It2 second_end,
                             Compare comp = {}) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      const std::uint64_t common = std::min(n, m);
      const std::uint64_t i_found = detail::find_index(p, common, [&](std::uint64_t i) -> bool {
        return comp(*detail::at(first, i), *detail::at(second, i)) ||
               comp(*detail::at(second, i), *detail::at(first, i));
      });
      if (i_found == common)
        return n < m;
      return static_cast<bool>(comp(*detail::at(first, i_found), *detail::at(second, i_found)));
    } else {
      return detail::in_order(p, [&]() -> bool {
        return std::lexicographical_compare(first, last, second, second_end, std::ref(comp));
      });
    }
  });
}

// ---- counts and extremes --------------------------------------------------------------------------

/// Counts the elements that the predicate holds for.
template <policy_type P, iterator_type It, class Pred>
detail::difference_of<It> count_if(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> detail::difference_of<It> {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      using number = detail::difference_of<It>;
      return detail::reduce_indices<number>(
                 p, n,
                 [&](std::uint64_t i) -> number { return pred(*detail::at(first, i)) ? 1 : 0; },
                 std::plus<number>())
          .value_or(0);
    } else {
      return detail::in_order(p, [&]() -> detail::difference_of<It> {
        return std::count_if(first, last, std::ref(pred));
      });
    }
  });
}

/// Counts the elements that are equal to the value.
template <policy_type P, iterator_type It, class T>
detail::difference_of<It> count(const P &p, It first, It last, const T &value) {
  return detail::place(p, [&]() -> detail::difference_of<It> {
    if constexpr (detail::shares<P, It>) {
      return weft::count_if(p, first, last, [&value](const auto &a) { return a == value; });
    } else {
      return detail::in_order(
          p, [&]() -> detail::difference_of<It> { return std::count(first, last, value); });
    }
  });
}

/// Returns the first of the smallest elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It min_element(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::reduce_indices<std::uint64_t>(
                                   p, n, [](std::uint64_t i) { return i; },
                                   [&](std::uint64_t a, std::uint64_t b) {
                                     return comp(*detail::at(first, b), *detail::at(first, a)) ? b
                                                                                               : a;
                                   })
                                   .value_or(n));
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::min_element(first, last, std::ref(comp)); });
    }
  });
}

/// Returns the first of the largest elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It max_element(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      return detail::at(first, detail::reduce_indices<std::uint64_t>(
                                   p, n, [](std::uint64_t i) { return i; },
                                   [&](std::uint64_t a, std::uint64_t b) {
                                     return comp(*detail::at(first, a), *detail::at(first, b)) ? b
                                                                                               : a;
                                   })
                                   .value_or(n));
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::max_element(first, last, std::ref(comp)); });
    }
  });
}

/// Returns the first of the smallest and the last of the largest elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
std::pair<It, It> minmax_element(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> std::pair<It, It> {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      using both = std::pair<std::uint64_t, std::uint64_t>;
      const both found =
          detail::reduce_indices<both>(
              p, n, [](std::uint64_t i) { return both(i, i); },
              [&](const both &a, const both &b) {
                return both(
                    comp(*detail::at(first, b.first), *detail::at(first, a.first)) ? b.first
                                                                                   : a.first,
                    comp(*detail::at(first, b.second), *detail::at(first, a.second)) ? a.second
                                                                                     : b.second);
              })
              .value_or(both(n, n));
      return {detail::at(first, found.first), detail::at(first, found.second)};
    } else {
      return detail::in_order(p, [&]() -> std::pair<It, It> {
        return std::minmax_element(first, last, std::ref(comp));
      });
    }
  });
}

// ---- order ----------------------------------------------------------------------------------------

/// Returns the first element that is less than the one before it.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It is_sorted_until(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (n < 2)
        return last;
      return detail::at(first, 1 + detail::find_index(p, n - 1, [&](std::uint64_t i) -> bool {
                                 return comp(*detail::at(first, i + 1), *detail::at(first, i));
                               }));
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::is_sorted_until(first, last, std::ref(comp)); });
    }
  });
}

/// Says whether the elements are sorted.
template <policy_type P, iterator_type It, class Compare = std::less<>>
bool is_sorted(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      return weft::is_sorted_until(p, first, last, std::ref(comp)) == last;
    } else {
      return detail::in_order(
          p, [&]() -> bool { return std::is_sorted(first, last, std::ref(comp)); });
    }
  });
}

/// Returns the first element that is greater than its parent in a heap.
template <policy_type P, iterator_type It, class Compare = std::less<>>
It is_heap_until(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      if (n < 2)
        return last;
      return detail::at(first, 1 + detail::find_index(p, n - 1, [&](std::uint64_t i) -> bool {
                                 return comp(*detail::at(first, i / 2), *detail::at(first, i + 1));
                               }));
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::is_heap_until(first, last, std::ref(comp)); });
    }
  });
}

/// Says whether the elements are a heap.
template <policy_type P, iterator_type It, class Compare = std::less<>>
bool is_heap(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      return weft::is_heap_until(p, first, last, std::ref(comp)) == last;
    } else {
      return detail::in_order(p,
                              [&]() -> bool { return std::is_heap(first, last, std::ref(comp)); });
    }
  });
}

/// Says whether the elements that the predicate holds for come before all others.
template <policy_type P, iterator_type It, class Pred>
bool is_partitioned(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It>) {
      const It middle = weft::find_if_not(p, first, last, std::ref(pred));
      if (middle == last)
        return true;
      return weft::none_of(p, middle + 1, last, std::ref(pred));
    } else {
      return detail::in_order(
          p, [&]() -> bool { return std::is_partitioned(first, last, std::ref(pred)); });
    }
  });
}

// ---- partition and removal ------------------------------------------------------------------------

/// Copies the elements that the predicate holds for, in order.
template <policy_type P, iterator_type It, class Out, class Pred>
Out copy_if(const P &p, It first, It last, Out out, Pred pred) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> Out {
          return detail::remembered<tag>(
              n, [&]() -> Out { return std::copy_if(first, last, out, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            p.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return pred(*detail::at(first, i)); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(
          p, [&]() -> Out { return std::copy_if(first, last, out, std::ref(pred)); });
    }
  });
}

/// Copies the elements that the predicate does not hold for, in order.
template <policy_type P, iterator_type It, class Out, class Pred>
Out remove_copy_if(const P &p, It first, It last, Out out, Pred pred) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> Out {
          return detail::remembered<tag>(
              n, [&]() -> Out { return std::remove_copy_if(first, last, out, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            p.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return !pred(*detail::at(first, i)); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(
          p, [&]() -> Out { return std::remove_copy_if(first, last, out, std::ref(pred)); });
    }
  });
}

/// Copies the elements that are not equal to the value, in order.
template <policy_type P, iterator_type It, class Out, class T>
Out remove_copy(const P &p, It first, It last, Out out, const T &value) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> Out {
          return detail::remembered<tag>(
              n, [&]() -> Out { return std::remove_copy(first, last, out, value); });
        });
      return detail::with_errors(p.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            p.control(), n, flags.data(),
            [&](std::uint64_t i) -> bool { return !(*detail::at(first, i) == value); },
            [&](std::uint64_t i, std::uint64_t rank, bool keep, std::uint64_t) {
              if (keep)
                *detail::at(out, rank) = *detail::at(first, i);
            });
        return detail::at(out, kept);
      });
    } else {
      return detail::in_order(p,
                              [&]() -> Out { return std::remove_copy(first, last, out, value); });
    }
  });
}

/// Writes the first of each run of equal elements.
template <policy_type P, iterator_type It, class Out, class Pred = std::equal_to<>>
Out unique_copy(const P &p, It first, It last, Out out, Pred pred = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> Out {
          return detail::remembered<tag>(
              n, [&]() -> Out { return std::unique_copy(first, last, out, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> Out {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            p.control(), n, flags.data(),
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
      return detail::in_order(
          p, [&]() -> Out { return std::unique_copy(first, last, out, std::ref(pred)); });
    }
  });
}

/// Moves the elements that the predicate does not hold for to the front, in order, and returns their end.
template <policy_type P, iterator_type It, class Pred>
It remove_if(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> It {
          return detail::remembered<tag>(
              n, [&]() -> It { return std::remove_if(first, last, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> It {
        return detail::at(first, detail::compact(p, first, n, [&](std::uint64_t i) -> bool {
                            return !pred(*detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(p,
                              [&]() -> It { return std::remove_if(first, last, std::ref(pred)); });
    }
  });
}

/// Moves the elements that are not equal to the value to the front, in order, and returns their end.
template <policy_type P, iterator_type It, class T>
It remove(const P &p, It first, It last, const T &value) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> It {
          return detail::remembered<tag>(n,
                                         [&]() -> It { return std::remove(first, last, value); });
        });
      return detail::with_errors(p.control(), [&]() -> It {
        return detail::at(first, detail::compact(p, first, n, [&](std::uint64_t i) -> bool {
                            return !(*detail::at(first, i) == value);
                          }));
      });
    } else {
      return detail::in_order(p, [&]() -> It { return std::remove(first, last, value); });
    }
  });
}

/// Moves the first of each run of equal elements to the front, and returns their end.
template <policy_type P, iterator_type It, class Pred = std::equal_to<>>
It unique(const P &p, It first, It last, Pred pred = {}) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> It {
          return detail::remembered<tag>(
              n, [&]() -> It { return std::unique(first, last, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> It {
        return detail::at(first, detail::compact(p, first, n, [&](std::uint64_t i) -> bool {
                            return i == 0 ||
                                   !pred(*detail::at(first, i - 1), *detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(p, [&]() -> It { return std::unique(first, last, std::ref(pred)); });
    }
  });
}

/// Moves the elements that the predicate holds for to the front, and returns their end.
template <policy_type P, iterator_type It, class Pred>
It partition(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (!detail::moves_safely<detail::value_of<It>> || detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> It {
          return detail::remembered<tag>(
              n, [&]() -> It { return std::partition(first, last, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> It {
        return detail::at(first, detail::split_stably(p, first, n, [&](std::uint64_t i) -> bool {
                            return pred(*detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(p,
                              [&]() -> It { return std::partition(first, last, std::ref(pred)); });
    }
  });
}

/// Does the same as partition, and keeps the order within both parts.
template <policy_type P, iterator_type It, class Pred>
It stable_partition(const P &p, It first, It last, Pred pred) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      if (!detail::moves_safely<detail::value_of<It>> || detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&]() -> It {
          return detail::remembered<tag>(
              n, [&]() -> It { return std::stable_partition(first, last, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> It {
        return detail::at(first, detail::split_stably(p, first, n, [&](std::uint64_t i) -> bool {
                            return pred(*detail::at(first, i));
                          }));
      });
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::stable_partition(first, last, std::ref(pred)); });
    }
  });
}

/// Copies the elements that the predicate holds for to one range, the others to another; returns the ends of both.
template <policy_type P, iterator_type It, class Out, class Out2, class Pred>
std::pair<Out, Out2> partition_copy(const P &p, It first, It last, Out out, Out2 out_false,
                                    Pred pred) {
  return detail::place(p, [&]() -> std::pair<Out, Out2> {
    if constexpr (detail::shares<P, It, Out, Out2>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      using ends = std::pair<Out, Out2>;
      if (detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&] {
          return detail::remembered<tag>(
              n, [&] { return std::partition_copy(first, last, out, out_false, std::ref(pred)); });
        });
      return detail::with_errors(p.control(), [&]() -> ends {
        detail::scratch<unsigned char> flags(n);
        const std::uint64_t kept = detail::pack_blocks<tag>(
            p.control(), n, flags.data(),
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
      return detail::in_order(p, [&]() -> std::pair<Out, Out2> {
        return std::partition_copy(first, last, out, out_false, std::ref(pred));
      });
    }
  });
}

// ---- sorting and merging --------------------------------------------------------------------------

/// Sorts the elements.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void sort(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      auto leaf = [](It a, It b, Compare &c) { std::sort(a, b, std::ref(c)); };
      detail::sort_range<decltype(leaf)>(p.control(), first, n, comp, leaf);
    } else {
      return detail::in_order(p, [&]() -> void { return std::sort(first, last, std::ref(comp)); });
    }
  });
}

/// Sorts the elements; equal ones keep their order.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void stable_sort(const P &p, It first, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      auto leaf = [](It a, It b, Compare &c) { std::stable_sort(a, b, std::ref(c)); };
      detail::sort_range<decltype(leaf)>(p.control(), first, n, comp, leaf);
    } else {
      return detail::in_order(
          p, [&]() -> void { return std::stable_sort(first, last, std::ref(comp)); });
    }
  });
}

/// Puts the least elements, as many as there are before `middle`, to the front, sorted.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void partial_sort(const P &p, It first, It middle, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      const std::uint64_t k = detail::count_between(first, middle);
      struct tag {};
      if (k == 0)
        return;
      if (n / 4 < k)
        return weft::sort(p, first, last, std::ref(comp));
      if (n < detail::k_least_sort || detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&] {
          detail::remembered<tag>(n,
                                  [&] { std::partial_sort(first, middle, last, std::ref(comp)); });
        });
      auto leaf = [](It a, It b, std::uint64_t front, Compare &c) {
        std::partial_sort(a, detail::at(a, front), b, std::ref(c));
      };
      detail::with_errors(p.control(), [&] {
        detail::select_range(first, n, k, detail::cut(p.control(), n, detail::k_least_piece).count,
                             comp, leaf);
      });
    } else {
      return detail::in_order(
          p, [&]() -> void { return std::partial_sort(first, middle, last, std::ref(comp)); });
    }
  });
}

/// Copies the least elements, as many as there is room for, sorted.
template <policy_type P, iterator_type It, class Out, class Compare = std::less<>>
Out partial_sort_copy(const P &p, It first, It last, Out out, Out out_end, Compare comp = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      const std::uint64_t k = std::min(n, detail::count_between(out, out_end));
      struct tag {};
      if (k == 0 || detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&] {
          return detail::remembered<tag>(
              n, [&] { return std::partial_sort_copy(first, last, out, out_end, std::ref(comp)); });
        });
      std::vector<detail::value_of<It>> all(first, last);
      weft::partial_sort(p, all.begin(), detail::at(all.begin(), k), all.end(), std::ref(comp));
      return std::move(all.begin(), detail::at(all.begin(), k), out);
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::partial_sort_copy(first, last, out, out_end, std::ref(comp));
      });
    }
  });
}

/// Puts the element that is at `nth` in the sorted order there, those that are less before it.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void nth_element(const P &p, It first, It nth, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      struct tag {};
      constexpr bool safe = detail::moves_safely<detail::value_of<It>> &&
                            std::is_copy_constructible_v<detail::value_of<It>>;
      if constexpr (safe)
        while (nth != last && first != last &&
               detail::count_between(first, last) > 16 * detail::k_least_piece &&
               !detail::stays_in_order<tag>(p, detail::count_between(first, last))) {
          const std::uint64_t n = detail::count_between(first, last);
          It sample[9];
          for (std::uint64_t i = 0; i < 9; ++i)
            sample[i] = detail::at(first, n / 9 * i + n / 18);
          std::sort(sample, sample + 9, [&](It a, It b) { return comp(*a, *b); });
          const detail::value_of<It> pivot(*sample[4]);
          const It less =
              weft::partition(p, first, last, [&](const auto &a) { return comp(a, pivot); });
          if (nth < less) {
            last = less;
            continue;
          }
          const It greater =
              weft::partition(p, less, last, [&](const auto &a) { return !comp(pivot, a); });
          if (nth < greater)
            return;
          first = greater;
        }
      const std::uint64_t n = detail::count_between(first, last);
      detail::in_order(p, [&] {
        detail::remembered<tag>(n, [&] { std::nth_element(first, nth, last, std::ref(comp)); });
      });
    } else {
      return detail::in_order(
          p, [&]() -> void { return std::nth_element(first, nth, last, std::ref(comp)); });
    }
  });
}

/// Merges two sorted ranges; equal elements of the first come first.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out merge(const P &p, It first, It last, It2 second, It2 second_end, Out out, Compare comp = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      struct tag {};
      if (detail::stays_in_order<tag>(p, n + m))
        return detail::in_order(p, [&] {
          return detail::remembered<tag>(n + m, [&] {
            return std::merge(first, last, second, second_end, out, std::ref(comp));
          });
        });
      auto leaf = [](It a, It a_end, It2 b, It2 b_end, Out to, Compare &c) {
        std::merge(a, a_end, b, b_end, to, std::ref(c));
      };
      const detail::pieces q = detail::cut(p.control(), n + m, detail::k_least_merge);
      detail::with_errors(p.control(), [&] {
        detail::merge_runs(first, n, second, m, out, comp, leaf,
                           std::max<std::uint64_t>((n + m) / q.count, 2));
      });
      return detail::at(out, n + m);
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::merge(first, last, second, second_end, out, std::ref(comp));
      });
    }
  });
}

/// Says whether each element of the second sorted range is in the first.
template <policy_type P, iterator_type It, iterator_type It2, class Compare = std::less<>>
bool includes(const P &p, It first, It last, It2 second, It2 second_end, Compare comp = {}) {
  return detail::place(p, [&]() -> bool {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last),
                          m = detail::count_between(second, second_end);
      struct tag {};
      if (m < 2 || detail::stays_in_order<tag>(p, n + m))
        return detail::in_order(p, [&] {
          return detail::remembered<tag>(n + m, [&] {
            return std::includes(first, last, second, second_end, std::ref(comp));
          });
        });
      return detail::with_errors(p.control(), [&] {
        const auto bounds = detail::cut_sorted(p.control(), second, m, first, n, comp);
        std::atomic<bool> all{true};
        detail::for_pieces(p.control(), bounds.size() - 1, [&](std::uint64_t i) {
          if (all.load(std::memory_order_relaxed) &&
              !std::includes(detail::at(first, bounds[i].second),
                             detail::at(first, bounds[i + 1].second),
                             detail::at(second, bounds[i].first),
                             detail::at(second, bounds[i + 1].first), std::ref(comp)))
            all.store(false, std::memory_order_relaxed);
        });
        return all.load(std::memory_order_relaxed);
      });
    } else {
      return detail::in_order(p, [&]() -> bool {
        return std::includes(first, last, second, second_end, std::ref(comp));
      });
    }
  });
}

/// Writes the union of two sorted ranges.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_union(const P &p, It first, It last, It2 second, It2 second_end, Out out,
              Compare comp = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      return detail::set_operation(p, first, last, second, second_end, out, std::ref(comp),
                                   [](auto a, auto a_end, auto b, auto b_end, auto to, auto &c) {
                                     return std::set_union(a, a_end, b, b_end, to, c);
                                   });
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::set_union(first, last, second, second_end, out, std::ref(comp));
      });
    }
  });
}

/// Writes the elements of the first sorted range that are in the second.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_intersection(const P &p, It first, It last, It2 second, It2 second_end, Out out,
                     Compare comp = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      return detail::set_operation(p, first, last, second, second_end, out, std::ref(comp),
                                   [](auto a, auto a_end, auto b, auto b_end, auto to, auto &c) {
                                     return std::set_intersection(a, a_end, b, b_end, to, c);
                                   });
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::set_intersection(first, last, second, second_end, out, std::ref(comp));
      });
    }
  });
}

/// Writes the elements of the first sorted range that are not in the second.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_difference(const P &p, It first, It last, It2 second, It2 second_end, Out out,
                   Compare comp = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      return detail::set_operation(p, first, last, second, second_end, out, std::ref(comp),
                                   [](auto a, auto a_end, auto b, auto b_end, auto to, auto &c) {
                                     return std::set_difference(a, a_end, b, b_end, to, c);
                                   });
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::set_difference(first, last, second, second_end, out, std::ref(comp));
      });
    }
  });
}

/// Writes the elements that are in one of two sorted ranges only.
template <policy_type P, iterator_type It, iterator_type It2, class Out,
          class Compare = std::less<>>
Out set_symmetric_difference(const P &p, It first, It last, It2 second, It2 second_end, Out out,
                             Compare comp = {}) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      return detail::set_operation(p, first, last, second, second_end, out, std::ref(comp),
                                   [](auto a, auto a_end, auto b, auto b_end, auto to, auto &c) {
                                     return std::set_symmetric_difference(a, a_end, b, b_end, to,
                                                                          c);
                                   });
    } else {
      return detail::in_order(p, [&]() -> Out {
        return std::set_symmetric_difference(first, last, second, second_end, out, std::ref(comp));
      });
    }
  });
}

// ---- uninitialized memory -------------------------------------------------------------------------

/// Constructs elements as copies of those of a range.
template <policy_type P, iterator_type It, class Out>
Out uninitialized_copy(const P &p, It first, It last, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(p, out, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_copy_n(detail::at(first, i), count, detail::at(out, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(p,
                              [&]() -> Out { return std::uninitialized_copy(first, last, out); });
    }
  });
}

/// Constructs elements as moved from those of a range.
template <policy_type P, iterator_type It, class Out>
Out uninitialized_move(const P &p, It first, It last, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(p, out, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_move_n(detail::at(first, i), count, detail::at(out, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(p,
                              [&]() -> Out { return std::uninitialized_move(first, last, out); });
    }
  });
}

/// Constructs `count_of` elements as copies.
template <policy_type P, iterator_type It, class Size, class Out>
Out uninitialized_copy_n(const P &p, It first, Size count_of, Out out) {
  return detail::place(p, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      if (count_of <= 0)
        return out;
      const auto n = static_cast<std::uint64_t>(count_of);
      detail::construct_blocks(p, out, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_copy_n(detail::at(first, i), count, detail::at(out, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          p, [&]() -> Out { return std::uninitialized_copy_n(first, count_of, out); });
    }
  });
}

/// Constructs `count_of` elements by moves; returns the ends of both ranges.
template <policy_type P, iterator_type It, class Size, class Out>
std::pair<It, Out> uninitialized_move_n(const P &p, It first, Size count_of, Out out) {
  return detail::place(p, [&]() -> std::pair<It, Out> {
    if constexpr (detail::shares<P, It, Out>) {
      if (count_of <= 0)
        return {first, out};
      const auto n = static_cast<std::uint64_t>(count_of);
      detail::construct_blocks(p, out, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_move_n(detail::at(first, i), count, detail::at(out, i));
      });
      return {detail::at(first, n), detail::at(out, n)};
    } else {
      return detail::in_order(p, [&]() -> std::pair<It, Out> {
        return std::uninitialized_move_n(first, count_of, out);
      });
    }
  });
}

/// Constructs elements as copies of the value.
template <policy_type P, iterator_type It, class T>
void uninitialized_fill(const P &p, It first, It last, const T &value) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(p, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_fill_n(detail::at(first, i), count, value);
      });

    } else {
      return detail::in_order(
          p, [&]() -> void { return std::uninitialized_fill(first, last, value); });
    }
  });
}

/// Constructs `count_of` elements as copies of the value.
template <policy_type P, iterator_type It, class Size, class T>
It uninitialized_fill_n(const P &p, It first, Size count_of, const T &value) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count_of <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count_of);
      detail::construct_blocks(p, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_fill_n(detail::at(first, i), count, value);
      });
      return detail::at(first, n);
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::uninitialized_fill_n(first, count_of, value); });
    }
  });
}

/// Constructs elements by default.
template <policy_type P, iterator_type It>
void uninitialized_default_construct(const P &p, It first, It last) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(p, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_default_construct_n(detail::at(first, i), count);
      });

    } else {
      return detail::in_order(
          p, [&]() -> void { return std::uninitialized_default_construct(first, last); });
    }
  });
}

/// Constructs `count_of` elements by default.
template <policy_type P, iterator_type It, class Size>
It uninitialized_default_construct_n(const P &p, It first, Size count_of) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count_of <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count_of);
      detail::construct_blocks(p, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_default_construct_n(detail::at(first, i), count);
      });
      return detail::at(first, n);
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::uninitialized_default_construct_n(first, count_of); });
    }
  });
}

/// Constructs elements by value.
template <policy_type P, iterator_type It>
void uninitialized_value_construct(const P &p, It first, It last) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(p, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_value_construct_n(detail::at(first, i), count);
      });

    } else {
      return detail::in_order(
          p, [&]() -> void { return std::uninitialized_value_construct(first, last); });
    }
  });
}

/// Constructs `count_of` elements by value.
template <policy_type P, iterator_type It, class Size>
It uninitialized_value_construct_n(const P &p, It first, Size count_of) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count_of <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count_of);
      detail::construct_blocks(p, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_value_construct_n(detail::at(first, i), count);
      });
      return detail::at(first, n);
    } else {
      return detail::in_order(
          p, [&]() -> It { return std::uninitialized_value_construct_n(first, count_of); });
    }
  });
}

/// Destroys the elements.
template <policy_type P, iterator_type It>
void destroy(const P &p, It first, It last) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(
          p, n, [&](std::uint64_t i) { std::destroy_at(std::addressof(*detail::at(first, i))); });
    } else {
      return detail::in_order(p, [&]() -> void { return std::destroy(first, last); });
    }
  });
}

/// Destroys `count_of` elements.
template <policy_type P, iterator_type It, class Size>
It destroy_n(const P &p, It first, Size count_of) {
  return detail::place(p, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count_of <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count_of);
      detail::for_indices(
          p, n, [&](std::uint64_t i) { std::destroy_at(std::addressof(*detail::at(first, i))); });
      return detail::at(first, n);
    } else {
      return detail::in_order(p, [&]() -> It { return std::destroy_n(first, count_of); });
    }
  });
}

/// Merges two sorted neighbours; equal elements of the first come first.
template <policy_type P, iterator_type It, class Compare = std::less<>>
void inplace_merge(const P &p, It first, It middle, It last, Compare comp = {}) {
  return detail::place(p, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      struct tag {};
      using value = detail::value_of<It>;
      if (!detail::moves_safely<value> || detail::stays_in_order<tag>(p, n))
        return detail::in_order(p, [&] {
          detail::remembered<tag>(n,
                                  [&] { std::inplace_merge(first, middle, last, std::ref(comp)); });
        });
      detail::with_errors(p.control(), [&] {
        detail::scratch<value> buffer(n);
        value *const from = buffer.data();
        weft::uninitialized_move(p, first, last, from);
        struct destroyer {
          value *begin;
          std::uint64_t count;
          ~destroyer() { std::destroy_n(begin, count); }
        } const at_end{from, n};
        const std::uint64_t half = detail::count_between(first, middle);
        auto leaf = [](value *a, value *a_end, value *b, value *b_end, It to, Compare &c) {
          detail::merge_by_moves(a, a_end, b, b_end, to, c);
        };
        const detail::pieces q = detail::cut(p.control(), n, detail::k_least_merge);
        detail::merge_runs(from, half, from + half, n - half, first, comp, leaf,
                           std::max<std::uint64_t>(n / q.count, 2));
      });
    } else {
      return detail::in_order(
          p, [&]() -> void { return std::inplace_merge(first, middle, last, std::ref(comp)); });
    }
  });
}

// ---- ranges ---------------------------------------------------------------------------------------

// Each of these takes a range in the place of each pair of iterators.
/// @cond
#define WEFT_ONE_RANGE(name)                                                                       \
  template <policy_type P, std::ranges::range R, class... Rest>                                    \
  decltype(auto) name(const P &p, R &&r, Rest &&...rest) {                                         \
    auto first = std::ranges::begin(r);                                                            \
    return name(p, first, std::ranges::next(first, std::ranges::end(r)),                           \
                static_cast<Rest &&>(rest)...);                                                    \
  }
#define WEFT_TWO_RANGES(name)                                                                      \
  template <policy_type P, std::ranges::range R, class Second, class... Rest>                      \
  decltype(auto) name(const P &p, R &&r, Second &&second, Rest &&...rest) {                        \
    auto first = std::ranges::begin(r);                                                            \
    auto last = std::ranges::next(first, std::ranges::end(r));                                     \
    if constexpr (std::ranges::range<Second>) {                                                    \
      auto other = std::ranges::begin(second);                                                     \
      return name(p, first, last, other, std::ranges::next(other, std::ranges::end(second)),       \
                  static_cast<Rest &&>(rest)...);                                                  \
    } else {                                                                                       \
      return name(p, first, last, static_cast<Second &&>(second), static_cast<Rest &&>(rest)...);  \
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
decltype(auto) transform(const P &p, R &&r, Rest &&...rest) {
  auto first = std::ranges::begin(r);
  auto last = std::ranges::next(first, std::ranges::end(r));
  if constexpr (sizeof...(Rest) == 3)
    return [&](auto &&second, auto &&...others) {
      if constexpr (std::ranges::range<decltype(second)>)
        return weft::transform(p, first, last, std::ranges::begin(second),
                               static_cast<decltype(others) &&>(others)...);
      else
        return weft::transform(p, first, last, second, static_cast<decltype(others) &&>(others)...);
    }(static_cast<Rest &&>(rest)...);
  else
    return weft::transform(p, first, last, static_cast<Rest &&>(rest)...);
}

// ---- for_loop --------------------------------------------------------------------------------------

namespace detail {

template <class T>
struct induction_clause {
  T begin, stride;
  using local = T;
  T *result; // null: not written back
};
template <class T, class Op>
struct loop_reduction_clause {
  T *into;
  T identity;
  Op op;
};

template <class Clause>
struct clause_state;
template <class T>
struct clause_state<induction_clause<T>> {
  const induction_clause<T> &c;
  T value;
  explicit clause_state(const induction_clause<T> &clause) : c(clause), value(clause.begin) {}
  void begin(std::uint64_t i) { value = static_cast<T>(c.begin + static_cast<T>(i) * c.stride); }
  T get() const { return value; }
  void step() { value = static_cast<T>(value + c.stride); }
  void end(std::mutex &) {}
  static void finish(const induction_clause<T> &c, std::uint64_t n) {
    if (c.result)
      *c.result = static_cast<T>(c.begin + static_cast<T>(n) * c.stride);
  }
};
template <class T, class Op>
struct clause_state<loop_reduction_clause<T, Op>> {
  const loop_reduction_clause<T, Op> &c;
  T value;
  explicit clause_state(const loop_reduction_clause<T, Op> &clause)
      : c(clause), value(clause.identity) {}
  void begin(std::uint64_t) {}
  T &get() { return value; }
  void step() {}
  void end(std::mutex &lock) {
    const std::lock_guard guard(lock);
    *c.into = c.op(std::move(*c.into), std::move(value));
  }
  static void finish(const loop_reduction_clause<T, Op> &, std::uint64_t) {}
};

template <class F, class... Clauses>
struct for_loop_tag {};

template <class I>
auto loop_value(I first, std::uint64_t i, std::int64_t stride) {
  if constexpr (std::is_integral_v<I>)
    return static_cast<I>(static_cast<std::uint64_t>(first) +
                          i * static_cast<std::uint64_t>(stride));
  else
    return first + static_cast<difference_of<I>>(static_cast<std::int64_t>(i) * stride);
}

/// Counts the values from first to last, without last, by strides.
template <class I>
std::uint64_t loop_count(I first, I last, std::int64_t stride) {
  if (stride == 0)
    refuse_step();
  std::uint64_t width = 0;
  if constexpr (std::is_integral_v<I>) {
    if (stride > 0 ? !(first < last) : !(last < first))
      return 0;
    width = stride > 0 ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)
                       : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(last);
  } else {
    const auto distance = static_cast<std::int64_t>(last - first);
    if (stride > 0 ? distance <= 0 : distance >= 0)
      return 0;
    width = static_cast<std::uint64_t>(stride > 0 ? distance : -distance);
  }
  const std::uint64_t step =
      stride > 0 ? static_cast<std::uint64_t>(stride) : 0 - static_cast<std::uint64_t>(stride);
  return (width - 1) / step + 1;
}

template <class P, class I, std::size_t... Is, class Tuple>
void for_loop(const P &p, I first, std::uint64_t n, std::int64_t stride, std::index_sequence<Is...>,
              Tuple &all) {
  auto &f = std::get<sizeof...(Is)>(all);
  std::mutex lock;
  const auto over = [&](auto &blocks) {
    [[maybe_unused]] std::tuple<
        clause_state<std::remove_cvref_t<std::tuple_element_t<Is, Tuple>>>...>
    states(std::get<Is>(all)...);
    bool any = false;
    for (std::uint64_t begin = 0, count = 0; blocks.next(begin, count); any = true) {
      (std::get<Is>(states).begin(begin), ...);
      for (std::uint64_t i = begin; i < begin + count; ++i) {
        f(loop_value(first, i, stride), std::get<Is>(states).get()...);
        (std::get<Is>(states).step(), ...);
      }
    }
    if (any)
      (std::get<Is>(states).end(lock), ...);
  };
  if constexpr (P::is_parallel) {
    run_blocks<for_loop_tag<Tuple>>(p.control(), n, over);
  } else {
    one_block everything(n);
    over(everything);
  }
  (clause_state<std::remove_cvref_t<std::tuple_element_t<Is, Tuple>>>::finish(std::get<Is>(all), n),
   ...);
}

} // namespace detail

/// Gives f a value that begins with `value` and grows by `stride` with each iteration.
template <class T>
[[nodiscard]] detail::induction_clause<std::decay_t<T>> induction(T &&value,
                                                                  std::decay_t<T> stride = 1) {
  if constexpr (std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>)
    return {value, stride, &value};
  else
    return {value, stride, nullptr};
}
/// Gives f a reference to a copy that begins with `identity`. At the end of the loop op combines
/// the copies with `into`, in no order.
template <class T, class Op>
[[nodiscard]] detail::loop_reduction_clause<T, Op> loop_reduction(T &into, T identity, Op op) {
  return {&into, std::move(identity), std::move(op)};
}
/// @{
/// Reduces by an operation of the standard.
template <class T>
[[nodiscard]] auto reduction_plus(T &into) {
  return loop_reduction(into, T(), std::plus<>());
}
template <class T>
[[nodiscard]] auto reduction_multiplies(T &into) {
  return loop_reduction(into, T(1), std::multiplies<>());
}
template <class T>
[[nodiscard]] auto reduction_bit_and(T &into) {
  return loop_reduction(into, static_cast<T>(~T()), std::bit_and<>());
}
template <class T>
[[nodiscard]] auto reduction_bit_or(T &into) {
  return loop_reduction(into, T(), std::bit_or<>());
}
template <class T>
[[nodiscard]] auto reduction_bit_xor(T &into) {
  return loop_reduction(into, T(), std::bit_xor<>());
}
template <class T>
[[nodiscard]] auto reduction_min(T &into) {
  return loop_reduction(into, T(into), [](const T &a, const T &b) { return std::min(a, b); });
}
template <class T>
[[nodiscard]] auto reduction_max(T &into) {
  return loop_reduction(into, T(into), [](const T &a, const T &b) { return std::max(a, b); });
}
/// @}

/// Calls f(i, values...) for each i from first to last, without last, by `stride`: integers or
/// iterators. The values are those of the inductions and reductions before f.
///
///     weft::for_loop_strided(weft::execution::par, 0, n, 2, weft::reduction_plus(sum), [&](int i, long &s) { s += x[i]; });
///
/// Errors. invalid_argument for a stride of 0; else what f throws.
/// Source. P0075.
template <policy_type P, class I, class... Rest>
void for_loop_strided(const P &p, I first, std::type_identity_t<I> last, std::int64_t stride,
                      Rest &&...rest) {
  static_assert(sizeof...(Rest) >= 1, "weft::for_loop needs a function behind its clauses");
  std::tuple<Rest &&...> all(static_cast<Rest &&>(rest)...);
  const std::uint64_t n = detail::loop_count(first, last, stride);
  detail::place(p, [&] {
    detail::for_loop(p, first, n, stride, std::make_index_sequence<sizeof...(Rest) - 1>(), all);
  });
}
/// Calls f(i, values...) for each i from first to last, without last, as for_loop_strided().
template <policy_type P, class I, class... Rest>
void for_loop(const P &p, I first, std::type_identity_t<I> last, Rest &&...rest) {
  for_loop_strided(p, first, last, 1, static_cast<Rest &&>(rest)...);
}

} // namespace weft::inline v0

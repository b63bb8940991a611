// SPDX-License-Identifier: Apache-2.0
// Sorts a run of small values by one thread, without branches that depend on the values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace weft::inline v0::detail {

template <class T>
inline constexpr bool is_small = std::is_trivially_copyable_v<T> && sizeof(T) <= 16 &&
                                 std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>;

/// Quicksort of trivially copyable values of at most 16 bytes.
///
/// On values in no order a branch of std::sort is mispredicted every second comparison. Here each
/// step of a partition moves two values, whatever the comparison says, and adds its result to the
/// border (S. Edelkamp, A. Weiß: BlockQuicksort, 2016, show the gain; the loop is Lomuto's with a
/// gap that travels). What an order is worth is taken before that: a range that a pivot parts
/// already is tried by few insertions (O. Peters: Pattern-defeating Quicksort, 2021), and values
/// that equal the one before the range leave it at once.
///
/// Takes O(n log n) comparisons, since a range that was parted too often goes to a heap; O(log n)
/// of the stack, since the shorter part is sorted first. A comparison that is no order, or throws,
/// leaves unspecified values, and never reads or writes outside of the range.
template <class T, class Compare>
class quicksort {
 public:
  explicit quicksort(Compare &comp) noexcept : m_comp(comp) {}

  void operator()(T *values, std::size_t count) {
    if (count < 2 || is_in_order(values, count))
      return;
    if (is_reversed(values, count)) {
      std::reverse(values, values + count);
      return;
    }
    sort(values, count, nullptr, 2 * static_cast<unsigned>(std::bit_width(count)));
  }

 private:
  static constexpr std::size_t k_few = 20, k_many = 128, k_most_moves = 8;

  bool is_in_order(T *values, std::size_t count) {
    std::size_t i = 1;
    while (i < count && !m_comp(values[i], values[i - 1]))
      ++i;
    return i == count;
  }
  bool is_reversed(T *values, std::size_t count) {
    std::size_t i = 1;
    while (i < count && m_comp(values[i], values[i - 1]))
      ++i;
    return i == count;
  }

  /// Sorts; `before` is the value in front of the range, which none of the range is less than.
  void sort(T *values, std::size_t count, T *before, unsigned partitions_left) {
    while (count > k_few) {
      if (partitions_left-- == 0) {
        std::make_heap(values, values + count, std::ref(m_comp));
        std::sort_heap(values, values + count, std::ref(m_comp));
        return;
      }
      std::swap(values[0], *choose(values, count));
      T pivot = values[0];
      if (before && !m_comp(*before, pivot)) {
        // The pivot is the least value: all that equal it are in place.
        const std::size_t equal =
            1 + part(values + 1, count - 1, [&](T &x) { return !m_comp(pivot, x); });
        values += equal;
        count -= equal;
        before = nullptr;
        continue;
      }
      bool was_parted = false;
      const std::size_t less = part_around(values, count, pivot, was_parted);
      T *const greater = values + less + 1;
      const std::size_t rest = count - less - 1;
      if (was_parted && insert_few(values, less) && insert_few(greater, rest))
        return;
      if (less < rest) {
        sort(values, less, before, partitions_left);
        before = values + less;
        values = greater;
        count = rest;
      } else {
        sort(greater, rest, values + less, partitions_left);
        count = less;
      }
    }
    insert(values, count);
  }

  /// Sorts few values.
  void insert(T *values, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i)
      static_cast<void>(sink(values, i));
  }
  /// Moves values[i] down to its place; says how far.
  std::size_t sink(T *values, std::size_t i) {
    T x = values[i];
    std::size_t j = i;
    for (; j > 0 && m_comp(x, values[j - 1]); --j)
      values[j] = values[j - 1];
    values[j] = x;
    return i - j;
  }
  /// Sorts a range that needs few moves; otherwise stops early, and says so.
  bool insert_few(T *values, std::size_t count) {
    std::size_t moves = 0;
    for (std::size_t i = 1; i < count && moves <= k_most_moves; ++i)
      if (m_comp(values[i], values[i - 1]))
        moves += sink(values, i);
    return moves <= k_most_moves;
  }

  /// Returns the median of three values, or of three such medians.
  T *choose(T *values, std::size_t count) {
    if (count < k_many)
      return median(values, values + count / 2, values + count - 1);
    const std::size_t step = count / 9;
    T *const at = values + step / 2;
    const auto of_three = [&](std::size_t i) {
      return median(at + i * step, at + (i + 1) * step, at + (i + 2) * step);
    };
    return median(of_three(0), of_three(3), of_three(6));
  }
  T *median(T *first, T *second, T *third) {
    const bool below = m_comp(*first, *second);
    if (below != m_comp(*first, *third))
      return first;
    return m_comp(*second, *third) == below ? second : third;
  }

  /// Puts the pivot, which is values[0], behind what is less; says how many that are, and whether the
  /// others stood right.
  std::size_t part_around(T *values, std::size_t count, T &pivot, bool &was_parted) {
    std::size_t begin = 1, end = count;
    while (begin < end && m_comp(values[begin], pivot))
      ++begin;
    while (begin < end && !m_comp(values[end - 1], pivot))
      --end;
    was_parted = begin == end;
    const std::size_t less =
        begin - 1 + part(values + begin, end - begin, [&](T &x) { return m_comp(x, pivot); });
    values[0] = values[less];
    values[less] = pivot;
    return less;
  }
  /// Puts the values for which `goes_left` is true to the front; returns how many.
  template <class F>
  static std::size_t part(T *values, std::size_t count, F goes_left) {
    if (count == 0)
      return 0;
    T first = values[0];
    T *left = values, *gap = values, *const end = values + count;
    for (T *right = values + 1; right != end; ++right) {
      const bool moves = goes_left(*right);
      *gap = *left;
      *left = *right;
      gap = right;
      left += moves;
    }
    *gap = *left;
    *left = first;
    return static_cast<std::size_t>(left - values) + goes_left(first);
  }

  Compare &m_comp;
};

/// Returns the pointer that an iterator of contiguous memory stands for, else the iterator. Pointers
/// merge without branches, and one instance of a sort serves a vector, a span and an array.
template <class It>
[[nodiscard]] auto pointer_of(It it) {
  if constexpr (std::contiguous_iterator<It>)
    return std::to_address(it);
  else
    return it;
}

/// Sorts a run by one thread.
template <class It, class Compare>
void sort_run(It first, It last, Compare &comp) {
  using value = std::iter_value_t<It>;
  if constexpr (std::contiguous_iterator<It> && is_small<value>) {
    quicksort<value, Compare> sort(comp);
    sort(pointer_of(first), static_cast<std::size_t>(last - first));
  } else {
    std::sort(first, last, std::ref(comp));
  }
}

} // namespace weft::inline v0::detail

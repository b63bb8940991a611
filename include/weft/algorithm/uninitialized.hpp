// SPDX-License-Identifier: Apache-2.0
// Algorithms over uninitialized memory.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace detail {

/// Constructs n elements by construct(first, count) per block, and destroys them if one fails.
template <class P, class It, class F>
void construct_blocks(const P &policy, It to, std::uint64_t n, F construct) {
  std::mutex lock;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks; // that have begun; 0 until the end
  try {
    for_blocks<F>(policy.control(), n, [&](std::uint64_t first, std::uint64_t count) {
      std::size_t mine = 0;
      {
        const std::lock_guard guard(lock);
        mine = blocks.size();
        blocks.emplace_back(first, 0);
      }
      construct(first, count);
      const std::lock_guard guard(lock);
      blocks[mine].second = count;
    });
  } catch (...) {
    for (const auto &[first, count] : blocks)
      std::destroy(at(to, first), at(to, first + count));
    throw;
  }
}

} // namespace detail

/// Constructs elements as copies of those of a range.
template <policy_type P, iterator_type It, class Out>
Out uninitialized_copy(const P &policy, It first, It last, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(policy, out, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_copy_n(detail::at(first, i), count, detail::at(out, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy,
                              [&]() -> Out { return std::uninitialized_copy(first, last, out); });
    }
  });
}

/// Constructs elements as moved from those of a range.
template <policy_type P, iterator_type It, class Out>
Out uninitialized_move(const P &policy, It first, It last, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(policy, out, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_move_n(detail::at(first, i), count, detail::at(out, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy,
                              [&]() -> Out { return std::uninitialized_move(first, last, out); });
    }
  });
}

/// Constructs `count_of` elements as copies.
template <policy_type P, iterator_type It, class Size, class Out>
Out uninitialized_copy_n(const P &policy, It first, Size count_of, Out out) {
  if constexpr (detail::shares<P, It, Out>) {
    if (count_of <= 0)
      return out;
    const It last = detail::at(first, static_cast<std::uint64_t>(count_of));
    return weft::uninitialized_copy(policy, first, last, out);
  } else {
    return detail::place(policy, [&] {
      return detail::in_order(
          policy, [&]() -> Out { return std::uninitialized_copy_n(first, count_of, out); });
    });
  }
}

/// Constructs `count_of` elements by moves; returns the ends of both ranges.
template <policy_type P, iterator_type It, class Size, class Out>
std::pair<It, Out> uninitialized_move_n(const P &policy, It first, Size count_of, Out out) {
  if constexpr (detail::shares<P, It, Out>) {
    if (count_of <= 0)
      return {first, out};
    const It last = detail::at(first, static_cast<std::uint64_t>(count_of));
    return {last, weft::uninitialized_move(policy, first, last, out)};
  } else {
    return detail::place(policy, [&] {
      return detail::in_order(policy, [&]() -> std::pair<It, Out> {
        return std::uninitialized_move_n(first, count_of, out);
      });
    });
  }
}

/// Constructs elements as copies of the value.
template <policy_type P, iterator_type It, class T>
void uninitialized_fill(const P &policy, It first, It last, const T &value) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(policy, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_fill_n(detail::at(first, i), count, value);
      });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::uninitialized_fill(first, last, value); });
    }
  });
}

/// Constructs `count_of` elements as copies of the value.
template <policy_type P, iterator_type It, class Size, class T>
It uninitialized_fill_n(const P &policy, It first, Size count_of, const T &value) {
  if constexpr (detail::shares<P, It>) {
    if (count_of <= 0)
      return first;
    const It last = detail::at(first, static_cast<std::uint64_t>(count_of));
    weft::uninitialized_fill(policy, first, last, value);
    return last;
  } else {
    return detail::place(policy, [&] {
      return detail::in_order(
          policy, [&]() -> It { return std::uninitialized_fill_n(first, count_of, value); });
    });
  }
}

/// Constructs elements by default.
template <policy_type P, iterator_type It>
void uninitialized_default_construct(const P &policy, It first, It last) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(policy, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_default_construct_n(detail::at(first, i), count);
      });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::uninitialized_default_construct(first, last); });
    }
  });
}

/// Constructs `count_of` elements by default.
template <policy_type P, iterator_type It, class Size>
It uninitialized_default_construct_n(const P &policy, It first, Size count_of) {
  if constexpr (detail::shares<P, It>) {
    if (count_of <= 0)
      return first;
    const It last = detail::at(first, static_cast<std::uint64_t>(count_of));
    weft::uninitialized_default_construct(policy, first, last);
    return last;
  } else {
    return detail::place(policy, [&] {
      return detail::in_order(
          policy, [&]() -> It { return std::uninitialized_default_construct_n(first, count_of); });
    });
  }
}

/// Constructs elements by value.
template <policy_type P, iterator_type It>
void uninitialized_value_construct(const P &policy, It first, It last) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::construct_blocks(policy, first, n, [&](std::uint64_t i, std::uint64_t count) {
        std::uninitialized_value_construct_n(detail::at(first, i), count);
      });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::uninitialized_value_construct(first, last); });
    }
  });
}

/// Constructs `count_of` elements by value.
template <policy_type P, iterator_type It, class Size>
It uninitialized_value_construct_n(const P &policy, It first, Size count_of) {
  if constexpr (detail::shares<P, It>) {
    if (count_of <= 0)
      return first;
    const It last = detail::at(first, static_cast<std::uint64_t>(count_of));
    weft::uninitialized_value_construct(policy, first, last);
    return last;
  } else {
    return detail::place(policy, [&] {
      return detail::in_order(
          policy, [&]() -> It { return std::uninitialized_value_construct_n(first, count_of); });
    });
  }
}

/// Destroys the elements.
template <policy_type P, iterator_type It>
void destroy(const P &policy, It first, It last) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        std::destroy_at(std::addressof(*detail::at(first, i)));
      });
    } else {
      return detail::in_order(policy, [&]() -> void { return std::destroy(first, last); });
    }
  });
}

/// Destroys `count_of` elements.
template <policy_type P, iterator_type It, class Size>
It destroy_n(const P &policy, It first, Size count_of) {
  if constexpr (detail::shares<P, It>) {
    if (count_of <= 0)
      return first;
    const It last = detail::at(first, static_cast<std::uint64_t>(count_of));
    weft::destroy(policy, first, last);
    return last;
  } else {
    return detail::place(policy, [&] {
      return detail::in_order(policy, [&]() -> It { return std::destroy_n(first, count_of); });
    });
  }
}

} // namespace weft::inline v0

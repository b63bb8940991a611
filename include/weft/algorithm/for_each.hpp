// SPDX-License-Identifier: Apache-2.0
// Algorithms that treat each element by itself: calls, copies, values.
#pragma once

#include <weft/detail/execution_policy.hpp>
#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace weft::inline v0 {

/// Calls f for each element.
template <policy_type P, iterator_type It, class F>
void for_each(const P &policy, It first, It last, F f) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) { f(*detail::at(first, i)); });
    } else {
      return detail::in_order(policy, [&]() -> void {
        return static_cast<void>(std::for_each(first, last, std::ref(f)));
      });
    }
  });
}

/// Calls f for the first `count` elements, and returns the end of them.
template <policy_type P, iterator_type It, class Size, class F>
It for_each_n(const P &policy, It first, Size count, F f) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(policy, n, [&](std::uint64_t i) { f(*detail::at(first, i)); });
      return detail::at(first, n);
    } else {
      return detail::in_order(policy,
                              [&]() -> It { return std::for_each_n(first, count, std::ref(f)); });
    }
  });
}

/// Writes f of each element, and returns the end of what is written.
template <policy_type P, iterator_type It, class Out, class F>
Out transform(const P &policy, It first, It last, Out out, F f) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n,
                          [&](std::uint64_t i) { *detail::at(out, i) = f(*detail::at(first, i)); });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          policy, [&]() -> Out { return std::transform(first, last, out, std::ref(f)); });
    }
  });
}

/// Writes f of the elements of two ranges, and returns the end of what is written.
template <policy_type P, iterator_type It, iterator_type It2, class Out, class F>
  requires(!std::is_invocable_v<F &, std::iter_reference_t<It>>) ||
          std::is_invocable_v<F &, std::iter_reference_t<It>, std::iter_reference_t<It2>>
Out transform(const P &policy, It first, It last, It2 second, Out out, F f) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, It2, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        *detail::at(out, i) = f(*detail::at(first, i), *detail::at(second, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          policy, [&] { return std::transform(first, last, second, out, std::ref(f)); });
    }
  });
}

/// Assigns the elements to those of another range.
template <policy_type P, iterator_type It, class Out>
Out copy(const P &policy, It first, It last, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n,
                          [&](std::uint64_t i) { *detail::at(out, i) = *detail::at(first, i); });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy, [&]() -> Out { return std::copy(first, last, out); });
    }
  });
}

/// Moves the elements to those of another range.
template <policy_type P, iterator_type It, class Out>
Out move(const P &policy, It first, It last, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        *detail::at(out, i) = std::move(*detail::at(first, i));
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy, [&]() -> Out { return std::move(first, last, out); });
    }
  });
}

/// Assigns the elements to those of another range, in reverse order.
template <policy_type P, iterator_type It, class Out>
Out reverse_copy(const P &policy, It first, It last, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(
          policy, n, [&](std::uint64_t i) { *detail::at(out, n - 1 - i) = *detail::at(first, i); });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy, [&]() -> Out { return std::reverse_copy(first, last, out); });
    }
  });
}

/// Assigns `count` elements to those of another range.
template <policy_type P, iterator_type It, class Size, class Out>
Out copy_n(const P &policy, It first, Size count, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      if (count <= 0)
        return out;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(policy, n,
                          [&](std::uint64_t i) { *detail::at(out, i) = *detail::at(first, i); });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy, [&]() -> Out { return std::copy_n(first, count, out); });
    }
  });
}

/// Assigns the value to each element.
template <policy_type P, iterator_type It, class T>
void fill(const P &policy, It first, It last, const T &value) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) { *detail::at(first, i) = value; });
    } else {
      return detail::in_order(policy, [&]() -> void { return std::fill(first, last, value); });
    }
  });
}

/// Assigns the value to `count` elements.
template <policy_type P, iterator_type It, class Size, class T>
It fill_n(const P &policy, It first, Size count, const T &value) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(policy, n, [&](std::uint64_t i) { *detail::at(first, i) = value; });
      return detail::at(first, n);
    } else {
      return detail::in_order(policy, [&]() -> It { return std::fill_n(first, count, value); });
    }
  });
}

/// Assigns what g() returns to each element, in no order.
template <policy_type P, iterator_type It, class G>
void generate(const P &policy, It first, It last, G generator) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) { *detail::at(first, i) = generator(); });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::generate(first, last, std::ref(generator)); });
    }
  });
}

/// Assigns what g() returns to `count` elements, in no order.
template <policy_type P, iterator_type It, class Size, class G>
It generate_n(const P &policy, It first, Size count, G generator) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (count <= 0)
        return first;
      const auto n = static_cast<std::uint64_t>(count);
      detail::for_indices(policy, n, [&](std::uint64_t i) { *detail::at(first, i) = generator(); });
      return detail::at(first, n);
    } else {
      return detail::in_order(
          policy, [&]() -> It { return std::generate_n(first, count, std::ref(generator)); });
    }
  });
}

/// Replaces the elements that the predicate holds for.
template <policy_type P, iterator_type It, class Pred, class T>
void replace_if(const P &policy, It first, It last, Pred pred, const T &value) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        if (pred(*detail::at(first, i)))
          *detail::at(first, i) = value;
      });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::replace_if(first, last, std::ref(pred), value); });
    }
  });
}

/// Replaces the elements that are equal to `old_value`.
template <policy_type P, iterator_type It, class T>
void replace(const P &policy, It first, It last, const T &old_value, const T &value) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        if (*detail::at(first, i) == old_value)
          *detail::at(first, i) = value;
      });
    } else {
      return detail::in_order(
          policy, [&]() -> void { return std::replace(first, last, old_value, value); });
    }
  });
}

/// Copies, with the value in the place of the elements that the predicate holds for.
template <policy_type P, iterator_type It, class Out, class Pred, class T>
Out replace_copy_if(const P &policy, It first, It last, Out out, Pred pred, const T &value) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        if (pred(*detail::at(first, i)))
          *detail::at(out, i) = value;
        else
          *detail::at(out, i) = *detail::at(first, i);
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(policy, [&]() -> Out {
        return std::replace_copy_if(first, last, out, std::ref(pred), value);
      });
    }
  });
}

/// Copies, with the value in the place of the elements that are equal to `old_value`.
template <policy_type P, iterator_type It, class Out, class T>
Out replace_copy(const P &policy, It first, It last, Out out, const T &old_value, const T &value) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        if (*detail::at(first, i) == old_value)
          *detail::at(out, i) = value;
        else
          *detail::at(out, i) = *detail::at(first, i);
      });
      return detail::at(out, n);
    } else {
      return detail::in_order(
          policy, [&]() -> Out { return std::replace_copy(first, last, out, old_value, value); });
    }
  });
}

/// Exchanges the elements of two ranges.
template <policy_type P, iterator_type It, iterator_type It2>
It2 swap_ranges(const P &policy, It first, It last, It2 second) {
  return detail::place(policy, [&]() -> It2 {
    if constexpr (detail::shares<P, It, It2>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n, [&](std::uint64_t i) {
        std::iter_swap(detail::at(first, i), detail::at(second, i));
      });
      return detail::at(second, n);
    } else {
      return detail::in_order(policy,
                              [&]() -> It2 { return std::swap_ranges(first, last, second); });
    }
  });
}

/// Reverses the order of the elements.
template <policy_type P, iterator_type It>
void reverse(const P &policy, It first, It last) {
  return detail::place(policy, [&]() -> void {
    if constexpr (detail::shares<P, It>) {
      const std::uint64_t n = detail::count_between(first, last);
      detail::for_indices(policy, n / 2, [&](std::uint64_t i) {
        std::iter_swap(detail::at(first, i), detail::at(first, n - 1 - i));
      });
    } else {
      return detail::in_order(policy, [&]() -> void { return std::reverse(first, last); });
    }
  });
}

/// Makes `middle` the first element, and returns where the first one is then.
template <policy_type P, iterator_type It>
It rotate(const P &policy, It first, It middle, It last) {
  return detail::place(policy, [&]() -> It {
    if constexpr (detail::shares<P, It>) {
      if (first == middle)
        return last;
      if (middle == last)
        return first;
      weft::reverse(policy, first, middle);
      weft::reverse(policy, middle, last);
      weft::reverse(policy, first, last);
      return first + (last - middle);
    } else {
      return detail::in_order(policy, [&]() -> It { return std::rotate(first, middle, last); });
    }
  });
}

/// Assigns the elements to those of another range, with `middle` as the first.
template <policy_type P, iterator_type It, class Out>
Out rotate_copy(const P &policy, It first, It middle, It last, Out out) {
  return detail::place(policy, [&]() -> Out {
    if constexpr (detail::shares<P, It, Out>) {
      return weft::copy(policy, first, middle, weft::copy(policy, middle, last, out));
    } else {
      return detail::in_order(policy,
                              [&]() -> Out { return std::rotate_copy(first, middle, last, out); });
    }
  });
}

} // namespace weft::inline v0

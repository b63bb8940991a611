// SPDX-License-Identifier: Apache-2.0
// What items of dependences name, for the code that stands for `#pragma oss`.
#pragma once

#include <weft/access.hpp>
#include <weft/oss/orders.h>
#include <weft/region.hpp>
#include <weft/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {

/// Holds what `#pragma oss` is compiled to.
namespace oss {

/// Lists how items that name data are compared.
enum class order : std::uint8_t {
  by_address, ///< two items are the same data where they begin at one address
  by_bytes ///< two items are the same data where they overlap
};

/// Names the clause that an item of a kind of order is.
template <order Order>
using clause_of = std::conditional_t<Order == order::by_bytes, region_access, weft::access>;

namespace detail {

/// Says which orders there are: by address, by bytes. Files of C have it, too.
extern "C" {
[[gnu::visibility("default")]] inline unsigned char weft_oss_orders_seen[2] = {};
}

/// Notes before main that a file orders its items so, and reports a program whose files disagree.
inline void note_order(order how) noexcept {
  auto &seen = weft_oss_orders_seen;
  if (!seen[static_cast<unsigned>(how)] && seen[1 - static_cast<unsigned>(how)])
    static_cast<void>(std::fputs(WEFT_OSS_TWO_ORDERS, stderr));
  seen[static_cast<unsigned>(how)] = 1;
}
template <order Order>
inline const bool k_noted = (note_order(Order), true);

/// Returns the array that a pointer and extents in front of the pointee's own ones name.
template <class T, class... Extents>
[[nodiscard]] region region_of_pointer(T *first, Extents... extents) noexcept {
  using element = std::remove_all_extents_t<T>;
  auto *const at = reinterpret_cast<element *>(first);
  // The plus makes a number of an enumerator. Dimensions behind the second one of the pointee are one.
  if constexpr (std::rank_v<T> == 0)
    return region(at, {+extents...});
  else if constexpr (std::rank_v<T> == 1)
    return region(at, {+extents..., std::extent_v<T, 0>});
  else
    return region(at, {+extents..., std::extent_v<T, 0>,
                       sizeof(T) / (std::extent_v<T, 0> * sizeof(element))});
}

/// Returns the bytes from the first to the last of a region.
inline region bytes_of(const region &part) noexcept {
  std::ptrdiff_t low = 0, high = 0;
  for (unsigned i = 0; i < part.dimensions() && i < weft::v0::detail::k_region_dimensions; ++i) {
    const auto &d = part.dimension(i);
    const std::ptrdiff_t extent = i == 0 ? 1 : d.extent;
    low = low * extent + d.first;
    high = high * extent + d.first + d.count - 1;
  }
  const auto bytes = static_cast<std::ptrdiff_t>(part.element_bytes());
  const auto *const at = static_cast<const char *>(part.address());
  return region(const_cast<char *>(at) + low * bytes, (high - low + 1) * bytes);
}
/// Returns what an item of a loop names: all between the one of the first and the one of the last iteration.
inline region_access hull(const region_access &low, const region_access &high) noexcept {
  const region &a = low.part, &b = high.part;
  const unsigned n = a.dimensions();
  bool alike = a.address() == b.address() && a.element_bytes() == b.element_bytes() &&
               n == b.dimensions() && n <= weft::v0::detail::k_region_dimensions;
  if (alike) {
    weft::v0::detail::region_dimension all[weft::v0::detail::k_region_dimensions];
    for (unsigned i = 0; i < n; ++i) {
      const auto &x = a.dimension(i), &y = b.dimension(i);
      all[i] = x;
      all[i].first = x.first < y.first ? x.first : y.first;
      const std::ptrdiff_t xe = x.first + x.count;
      std::ptrdiff_t ye = y.first + y.count;
      // v[i;n] of a chunk of n iterations: the last one would reach beyond the array.
      if (ye > y.extent && xe <= x.extent)
        ye = y.extent;
      all[i].count = (xe < ye ? ye : xe) - all[i].first;
    }
    return {region(a.address(), a.element_bytes(), n, all), low.mode};
  }
  const region x = bytes_of(a), y = bytes_of(b);
  auto *const first = static_cast<char *>(
      const_cast<void *>(x.address() < y.address() ? x.address() : y.address()));
  const char *const xe = static_cast<const char *>(x.address()) + x.dimension(0).count;
  const char *const ye = static_cast<const char *>(y.address()) + y.dimension(0).count;
  return {region(first, (xe < ye ? ye : xe) - first), low.mode};
}

} // namespace detail

/// Is an array, whose part is named dimension by dimension, the outermost first.
template <class Element>
class array_part {
 public:
  explicit array_part(const region &all) noexcept : m_all(all) {} ///< all of the array
  /// @{ Selects of the next dimension: one element, n elements, first to last, the rest, all.
  template <class Index>
  [[nodiscard]] array_part index(Index at) const noexcept {
    return array_part(m_all.span(at, 1));
  }
  template <class Index, class Count>
  [[nodiscard]] array_part span(Index first, Count count) const noexcept {
    return array_part(m_all.span(first, count));
  }
  template <class Index, class Last>
  [[nodiscard]] array_part range(Index first, Last last) const noexcept {
    return array_part(m_all.range(first, last));
  }
  template <class Index>
  [[nodiscard]] array_part from(Index first) const noexcept {
    const weft::v0::detail::region_index begin = first;
    return array_part(m_all.span(begin.value, m_all.dimension(m_all.named()).extent - begin.value));
  }
  [[nodiscard]] array_part all() const noexcept { return array_part(m_all.all()); }
  /// @}
  [[nodiscard]] const region &get() const noexcept { return m_all; } ///< the part

  /// Returns the address of the part's first element.
  [[nodiscard]] const void *first() const noexcept {
    std::ptrdiff_t elements = 0;
    for (unsigned i = 0; i < m_all.dimensions(); ++i)
      elements = elements * (i == 0 ? 1 : m_all.dimension(i).extent) + m_all.dimension(i).first;
    return static_cast<const char *>(m_all.address()) +
           elements * static_cast<std::ptrdiff_t>(m_all.element_bytes());
  }

  /// Returns how many bytes the part has; 1: it has gaps, or no element.
  [[nodiscard]] std::uint32_t bytes() const noexcept {
    auto all = static_cast<std::ptrdiff_t>(m_all.element_bytes());
    bool is_whole = true; // in the dimensions behind
    for (unsigned i = m_all.dimensions(); i-- > 0;) {
      const auto &d = m_all.dimension(i);
      if (d.count <= 0 || (!is_whole && d.count != 1) || __builtin_mul_overflow(all, d.count, &all))
        return 1;
      is_whole = is_whole && d.count == d.extent;
    }
    return all < std::ptrdiff_t{UINT32_MAX} ? static_cast<std::uint32_t>(all) : UINT32_MAX;
  }

 private:
  region m_all;
};

/// Says whether a type is an array_part.
template <class T>
inline constexpr bool is_array_part = false;
template <class T>
inline constexpr bool is_array_part<array_part<T>> = true;

/// @{ Returns the array that an item with sections or a shape begins with: an array, a pointer with
/// as many extents as its shape has, a container with data() and size().
template <class T>
[[nodiscard]] auto array(T &&base) noexcept {
  using bare = std::remove_reference_t<T>;
  if constexpr (std::is_pointer_v<bare>)
    return array_part<std::remove_all_extents_t<std::remove_pointer_t<bare>>>(
        detail::region_of_pointer(base, weft::v0::detail::k_unbounded));
  else if constexpr (std::is_array_v<bare>)
    return array_part<std::remove_all_extents_t<bare>>(region(base));
  else
    return array_part<std::remove_reference_t<decltype(*base.data())>>(region(base));
}
template <class T, class... Extents>
  requires(sizeof...(Extents) > 0)
[[nodiscard]] auto array(T &&base, Extents... extents) noexcept {
  using pointer = std::decay_t<T>;
  static_assert(std::is_pointer_v<pointer>, "#pragma oss: a shape [n]p needs a pointer behind it");
  return array_part<std::remove_all_extents_t<std::remove_pointer_t<pointer>>>(
      detail::region_of_pointer(static_cast<pointer>(base), extents...));
}
/// @}

/// @{ Returns the clause for an item of a dependence.
template <access_mode Mode, order Order, class T>
[[nodiscard]] clause_of<Order> access(T &object) noexcept {
  static_cast<void>(&detail::k_noted<Order>);
  if constexpr (Order == order::by_address)
    return weft::v0::detail::access_to(object, Mode);
  else if constexpr (std::is_array_v<T>)
    return {region(object), Mode};
  else
    return {region(&const_cast<std::remove_cv_t<T> &>(object), 1), Mode};
}
template <access_mode Mode, order Order, class T>
[[nodiscard]] clause_of<Order> access(const array_part<T> &part) noexcept {
  static_cast<void>(&detail::k_noted<Order>);
  if constexpr (Order == order::by_address)
    return {part.first(), Mode, part.bytes()};
  else
    return {part.get(), Mode};
}
template <access_mode Mode, order Order, class T>
  requires(!std::is_lvalue_reference_v<T> && !is_array_part<T>)
clause_of<Order> access(T &&)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
    __attribute__((diagnose_if(true,
                               "an item of a dependence of '#pragma oss' must be an lvalue: an "
                               "object that has an address",
                               "error")))
#pragma clang diagnostic pop
#endif
    ;
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
template <access_mode Mode, order Order>
clause_of<Order> access(...)
    __attribute__((diagnose_if(true,
                               "in C++ an item of a dependence of '#pragma oss' must not be in an array whose "
                               "extent is known at run time only: use a pointer to its first element",
                               "error")));
#pragma clang diagnostic pop
#endif
/// @}

/// Collects the items of multi-dependences.
template <order Order>
class access_list {
 public:
  access_list() { m_all.reserve(16); } ///< nothing yet; most lists grow to a few items
  void add(const clause_of<Order> &item) { m_all.push_back(item); } ///< one item more
  [[nodiscard]] std::span<const clause_of<Order>> all() const noexcept {
    return m_all;
  } ///< in order
  [[nodiscard]] auto clause() const noexcept { ///< for spawn
    if constexpr (Order == order::by_address)
      return accesses(all());
    else
      return regions(all());
  }

 private:
  std::vector<clause_of<Order>> m_all;
};

namespace detail {
template <class Value>
constexpr std::uint64_t bits_of(Value value) noexcept {
  return static_cast<std::uint64_t>(value); // sign-extended: differences are right modulo 2^64
}
template <class A, class B>
constexpr bool precedes(A a, B b) noexcept { // by value, whatever the signs
  if constexpr (std::is_signed_v<A> == std::is_signed_v<B>)
    return a < b;
  else if constexpr (std::is_signed_v<A>)
    return a < 0 || bits_of(a) < bits_of(b);
  else
    return b > 0 && bits_of(a) < bits_of(b);
}
} // namespace detail

/// Is what an iterator of a multi-dependence runs through. It counts modulo 2^64, so a step down needs no type with a sign.
template <class T>
class iteration {
 public:
  struct place { ///< one value
    T value;
    std::uint64_t left; ///< values that follow, this one included
    std::uint64_t step;
    [[nodiscard]] T operator*() const noexcept { return value; } ///< the value
    place &operator++() noexcept { ///< the next value
      value = static_cast<T>(detail::bits_of(value) + step);
      --left;
      return *this;
    }
    [[nodiscard]] bool operator!=(const place &end) const noexcept {
      return left != end.left;
    } ///< by what is left
  };
  iteration(T first, std::uint64_t count, std::uint64_t step) noexcept
      : m_first{first, count, step} {} ///< of so many values
  [[nodiscard]] place begin() const noexcept { return m_first; } ///< the first value
  [[nodiscard]] place end() const noexcept { return {T{}, 0, 0}; } ///< no value left

 private:
  place m_first;
};

/// Returns what `i=first;count` runs through; a negative count is none.
template <class First, class Count>
[[nodiscard]] auto counted(First first, Count count) noexcept {
  using T = std::common_type_t<int, First, Count>;
  return iteration<T>(static_cast<T>(first), detail::precedes(0, +count) ? detail::bits_of(+count) : 0,
                      1);
}
/// Returns what `i=first:last:step` runs through; the last is included.
template <class First, class Last, class Step = int>
[[nodiscard]] auto closed_range(First first, Last last, Step step = 1) noexcept {
  using T = std::common_type_t<int, First, Last, Step>;
  const std::uint64_t low = detail::bits_of(+first), high = detail::bits_of(+last),
                      by = detail::bits_of(+step);
  std::uint64_t count = 0;
  if (detail::precedes(0, +step) && !detail::precedes(+last, +first))
    count = (high - low) / by + 1;
  else if (detail::precedes(+step, 0) && !detail::precedes(+first, +last))
    count = (low - high) / (0 - by) + 1;
  return iteration<T>(static_cast<T>(first), count, by);
}
/// Returns what `i={a, b}` runs through: values of the type that all of them convert to.
template <class... Values>
[[nodiscard]] auto listed(const Values &...values) {
  using T = std::common_type_t<Values...>;
  return std::array<T, sizeof...(Values)>{static_cast<T>(values)...};
}

} // namespace oss
} // namespace weft::inline v0

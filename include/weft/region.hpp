// SPDX-License-Identifier: Apache-2.0
// Accesses to parts of arrays, which are ordered by the bytes that they have in common.
#pragma once

#include <weft/access.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace weft::inline v0 {

namespace detail {

/// Holds an extent or an index of any integer type; one that does not fit counts as the largest.
struct region_index {
  template <class Integer>
    requires std::is_integral_v<Integer>
  constexpr region_index(
      Integer n) noexcept // NOLINT: implicit, so that {rows, cols} takes any integers
      : value(n > Integer{0} &&
                      static_cast<std::uint64_t>(n) > static_cast<std::uint64_t>(PTRDIFF_MAX)
                  ? PTRDIFF_MAX
                  : static_cast<std::ptrdiff_t>(n)) {}
  std::ptrdiff_t value;
};

struct region_dimension {
  std::ptrdiff_t extent = 0; // elements that are declared
  std::ptrdiff_t first = 0;  // of the part
  std::ptrdiff_t count = 0;  // of the part
  std::ptrdiff_t stride = 0; // from one element to the next, in elements; 0: they follow each other
};

inline constexpr std::ptrdiff_t k_unbounded = PTRDIFF_MAX;
inline constexpr unsigned k_region_dimensions = 3;

} // namespace detail

/// Names an array of one to three dimensions, or a part of one. Each call of range(), span() or
/// all() gives the part of the next dimension, the outermost first. Dimensions that are not
/// mentioned are meant in full.
///
///     weft::region(v, n)                                 [n]v: the n elements from v on
///     weft::region(v).range(a, b)                        v[a:b]: from a to b, both ends included
///     weft::region(v).span(a, n)                         v[a;n]: n elements from a on
///     weft::region(m, {rows, cols}).range(a, b).span(c, n)    a block of a matrix
///
/// A region is a value of 112 bytes that refers to the array and touches no element. A null address
/// is ignored, whatever the extents.
///
/// Errors. None here: the spawn that uses the region checks it. It throws weft::error
/// (errc::invalid_argument), with the label of its task, for a negative extent, a part beyond what
/// is declared, more than three dimensions, or more bytes than there are addresses.
class region {
 public:
  /// Names one of these:
  /// - all of a C array (of up to three dimensions);
  /// - the elements that a container with data() and size() has now, such as std::array,
  ///   std::vector, std::string or std::span (without elements the region is ignored);
  /// - from a pointer, elements whose number the parts give.
  template <class V>
    requires(!std::is_same_v<std::remove_cvref_t<V>, region>)
  explicit region(V &&value) noexcept {
    using bare = std::remove_reference_t<V>;
    if constexpr (std::is_array_v<bare>) {
      static_assert(std::rank_v<bare> <= detail::k_region_dimensions,
                    "weft::region knows arrays of up to three dimensions");
      set_array(value, static_cast<std::remove_all_extents_t<bare> *>(nullptr));
      add_extents<bare>();
    } else if constexpr (std::is_pointer_v<bare>) {
      set_array(value, value);
      add(detail::k_unbounded);
    } else {
      static_assert(
          detail::has_data_and_size<bare>,
          "weft::region needs a pointer, an array, or a container with data() and size()");
      static_assert(std::is_lvalue_reference_v<V> || std::is_trivially_copyable_v<bare>,
                    "weft::region of a temporary: it has no address that another task could name");
      set_array(value.data(), value.data());
      add(detail::region_index(value.size()).value);
    }
  }
  /// Selects the first `count` elements.
  template <class T>
  region(T *data, detail::region_index count) noexcept {
    set_array(data, data);
    add(count.value);
  }
  /// Names an array of the given extents, outermost first, as C lays it out.
  template <class T>
  region(T *data, std::initializer_list<detail::region_index> extents) noexcept {
    set_array(data, data);
    for (const detail::region_index n : extents)
      add(n.value);
  }

  /// Returns the part from `first` to `last`, both included; `last == first - 1` is nothing.
  [[nodiscard]] region range(detail::region_index first, detail::region_index last) const noexcept {
    std::ptrdiff_t count = 0;
    if (__builtin_sub_overflow(last.value, first.value, &count) ||
        __builtin_add_overflow(count, std::ptrdiff_t{1}, &count))
      count = last.value < first.value ? PTRDIFF_MIN : PTRDIFF_MAX;
    return with_part(first.value, count);
  }
  /// Returns the part of `count` elements from `first` on.
  [[nodiscard]] region span(detail::region_index first, detail::region_index count) const noexcept {
    return with_part(first.value, count.value);
  }
  /// Returns the part that is all of the dimension.
  [[nodiscard]] region all() const noexcept {
    return with_part(0, m_named < detail::k_region_dimensions ? m_dimension[m_named].extent : 0);
  }
  /// Returns the region with other strides: how far apart, in elements, two neighbours of each
  /// dimension are. {ld, 1} is for a matrix whose rows begin `ld` elements apart.
  [[nodiscard]] region
  strides(std::initializer_list<detail::region_index> elements) const noexcept {
    region r = *this;
    r.m_strides = static_cast<std::uint8_t>(elements.size() < 255 ? elements.size() : 255);
    unsigned i = 0;
    for (const detail::region_index n : elements)
      if (i < detail::k_region_dimensions)
        r.m_dimension[i++].stride = n.value;
    return r;
  }

  /// @{ Returns what the region is made of; for the library, and for the C functions.
  [[nodiscard]] const void *address() const noexcept { return m_address; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return m_element; }
  [[nodiscard]] unsigned dimensions() const noexcept { return m_dimensions; }
  [[nodiscard]] unsigned named() const noexcept { return m_named; }
  [[nodiscard]] unsigned stride_count() const noexcept { return m_strides; }
  [[nodiscard]] const detail::region_dimension &dimension(unsigned i) const noexcept {
    return m_dimension[i];
  }
  region(const void *address, std::size_t element_bytes, unsigned dimensions,
         const detail::region_dimension *all) noexcept
      : m_address(address), m_element(element_bytes) {
    for (unsigned i = 0; i < dimensions; ++i)
      add(i < detail::k_region_dimensions ? all[i].extent : 0);
    for (unsigned i = 0; i < dimensions && i < detail::k_region_dimensions; ++i)
      m_dimension[i] = all[i];
    m_named = m_dimensions;
    m_strides = m_dimensions;
  }

 private:
  template <class T>
  void set_array(const volatile void *address, const volatile T *) noexcept {
    static_assert(!std::is_void_v<T>,
                  "weft::region needs the type of the elements: cast the void pointer");
    m_address = const_cast<const void *>(address);
    m_element = sizeof(T);
  }
  template <class Array>
  void add_extents() noexcept {
    if constexpr (std::is_array_v<Array>) {
      static_assert(std::extent_v<Array> > 0,
                    "weft::region of an array of unknown extent: give the extents");
      add(static_cast<std::ptrdiff_t>(std::extent_v<Array>));
      add_extents<std::remove_extent_t<Array>>();
    }
  }
  void add(std::ptrdiff_t extent) noexcept {
    if (m_dimensions < detail::k_region_dimensions)
      m_dimension[m_dimensions] = {extent, 0, extent, 0};
    if (m_dimensions < 255)
      ++m_dimensions;
  }
  [[nodiscard]] region with_part(std::ptrdiff_t first, std::ptrdiff_t count) const noexcept {
    region r = *this;
    if (m_named < detail::k_region_dimensions) {
      r.m_dimension[m_named].first = first;
      r.m_dimension[m_named].count = count;
    }
    if (m_named < 255)
      ++r.m_named;
    return r;
  }

  const void *m_address = nullptr;
  std::uint64_t m_element = 0;
  detail::region_dimension m_dimension[detail::k_region_dimensions];
  std::uint8_t m_dimensions = 0;
  std::uint8_t m_named = 0; // parts that are given
  std::uint8_t m_strides = 0; // strides that are given
};

/// Holds an access to a region; it is a clause of spawn() and taskwait() like an access.
struct region_access {
  region part; ///< which bytes
  access_mode mode = access_mode::inout; ///< what the task does with them
};

/// @{
/// Names a region with a mode that means what it means for objects (<weft/access.hpp>), byte by
/// byte: two accesses concern the same data where their bytes overlap, and only there.
///
/// Cost. None: the array is not touched.
/// Errors. None.
[[nodiscard]] inline region_access in(region named) noexcept { return {named, access_mode::in}; }
[[nodiscard]] inline region_access out(region named) noexcept { return {named, access_mode::out}; }
[[nodiscard]] inline region_access inout(region named) noexcept {
  return {named, access_mode::inout};
}
[[nodiscard]] inline region_access weak_in(region named) noexcept {
  return {named, access_mode::weak_in};
}
[[nodiscard]] inline region_access weak_out(region named) noexcept {
  return {named, access_mode::weak_out};
}
[[nodiscard]] inline region_access weak_inout(region named) noexcept {
  return {named, access_mode::weak_inout};
}
/// @}

/// @{
/// Names a region that tasks share. `commutative` regions run one at a time in the order of their
/// creation, which is one of the orders that they allow.
[[nodiscard]] inline region_access concurrent(region named) noexcept {
  return {named, access_mode::concurrent};
}
[[nodiscard]] inline region_access commutative(region named) noexcept {
  return {named, access_mode::commutative};
}
[[nodiscard]] inline region_access weak_concurrent(region named) noexcept {
  return {named, access_mode::weak_concurrent};
}
[[nodiscard]] inline region_access weak_commutative(region named) noexcept {
  return {named, access_mode::weak_commutative};
}
/// @}

/// Holds a number of regions known only at run time; spawn reads them before it returns. A spawn
/// takes one such list at most.
struct regions {
  explicit constexpr regions(std::span<const region_access> all) noexcept
      : list(all) {} ///< the list is read by spawn, and not kept
  std::span<const region_access> list; ///< in any order
};

} // namespace weft::inline v0

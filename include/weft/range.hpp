// SPDX-License-Identifier: Apache-2.0
// Iteration spaces of loops.
#pragma once

#include <weft/config.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace weft::inline v0 {

namespace detail {
[[noreturn]] WEFT_API void refuse_step();
[[noreturn]] WEFT_API void refuse_blocks(std::uint64_t grain, std::uint64_t rows,
                                         std::uint64_t columns);
} // namespace detail

/// Holds the integers first, first + step, ... up to, and without, `limit`; down to it when the
/// step is negative. A range is empty when the limit lies the other way. A part of a range is a
/// range: loops hand one to their body as a chunk. Any values of `Index` are allowed, because no
/// function computes a value beyond the limit.
///
/// Errors. invalid_argument when the step is 0. Nothing else throws or costs anything.
template <class Index>
class range {
  static_assert(std::is_integral_v<Index> && !std::is_same_v<Index, bool>,
                "weft::range counts with integers");

 public:
  using index_type = Index; ///< what it counts with

  /// Holds 0, 1, ... limit - 1.
  explicit constexpr range(Index limit) noexcept : m_first(0), m_limit(limit), m_step(1) {}
  /// Holds first, first + step, ...
  constexpr range(Index first, Index limit, std::int64_t step = 1)
      : m_first(first), m_limit(limit), m_step(step) {
    if (step == 0)
      detail::refuse_step();
  }

  /// Returns how many indices there are.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept {
    if (m_step > 0 ? m_first >= m_limit : m_first <= m_limit)
      return 0;
    const std::uint64_t width =
        m_step > 0 ? bits(m_limit) - bits(m_first) : bits(m_first) - bits(m_limit);
    const std::uint64_t stride = m_step > 0 ? bits(m_step) : 0 - bits(m_step);
    return (width - 1) / stride + 1;
  }
  [[nodiscard]] constexpr bool empty() const noexcept {
    return size() == 0;
  } ///< whether there is none
  [[nodiscard]] constexpr Index first() const noexcept {
    return m_first;
  } ///< the first, unless it is empty
  /// Returns the limit. With a step of 1 the part is [first, limit): loops over these vectorise
  /// best.
  [[nodiscard]] constexpr Index limit() const noexcept { return m_limit; }
  [[nodiscard]] constexpr std::int64_t step() const noexcept {
    return m_step;
  } ///< from one to the next; not 0
  /// Returns index number `index`, which is below size().
  [[nodiscard]] constexpr Index operator[](std::uint64_t index) const noexcept {
    return static_cast<Index>(bits(m_first) + index * bits(m_step));
  }
  /// Returns `count` indices from number `index` on; there must be so many.
  [[nodiscard]] constexpr range part(std::uint64_t index, std::uint64_t count) const {
    return {(*this)[index], index + count < size() ? (*this)[index + count] : m_limit, m_step};
  }

  /// Yields the indices in order.
  class iterator {
   public:
    using value_type = Index;
    using difference_type = std::ptrdiff_t;
    using reference = Index;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    constexpr Index operator*() const noexcept { return static_cast<Index>(m_value); }
    constexpr iterator &operator++() noexcept {
      m_value += m_step;
      --m_left;
      return *this;
    }
    constexpr iterator operator++(int) noexcept {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend constexpr bool operator==(const iterator &a, const iterator &b) noexcept {
      return a.m_left == b.m_left;
    }

   private:
    friend range;
    constexpr iterator(std::uint64_t value, std::uint64_t step, std::uint64_t left) noexcept
        : m_value(value), m_step(step), m_left(left) {}
    std::uint64_t m_value, m_step, m_left;
  };
  [[nodiscard]] constexpr iterator begin() const noexcept {
    return {bits(m_first), bits(m_step), size()};
  } ///< at the first
  [[nodiscard]] constexpr iterator end() const noexcept { return {0, 0, 0}; } ///< behind the last

 private:
  template <class Integer>
  static constexpr std::uint64_t bits(Integer i) noexcept {
    return static_cast<std::uint64_t>(i); // sign-extended: differences are right modulo 2^64
  }

  Index m_first, m_limit;
  std::int64_t m_step;
};

/// Holds two ranges cut into blocks of at most row_grain x column_grain; the rows change slowest.
///
/// Errors. invalid_argument when a grain is 0 or there are more than 2^64 - 1 blocks.
template <class Index>
class blocks {
 public:
  /// Cuts the ranges into blocks of `row_grain` x `column_grain` indices.
  constexpr blocks(range<Index> rows, std::uint64_t row_grain, range<Index> columns,
                   std::uint64_t column_grain)
      : m_rows(rows), m_columns(columns), m_row_grain(row_grain), m_column_grain(column_grain),
        m_down(row_grain ? pieces(rows, row_grain) : 0),
        m_across(column_grain ? pieces(columns, column_grain) : 0) {
    if (row_grain == 0 || column_grain == 0 || (m_across != 0 && m_down > UINT64_MAX / m_across))
      detail::refuse_blocks(row_grain < column_grain ? row_grain : column_grain, m_down, m_across);
  }
  /// Returns how many blocks there are.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return m_down * m_across; }
  /// @{ Returns the rows or the columns of block number `block`, which is below size().
  [[nodiscard]] constexpr range<Index> rows(std::uint64_t block) const {
    return piece(m_rows, block / m_across, m_row_grain);
  }
  [[nodiscard]] constexpr range<Index> columns(std::uint64_t block) const {
    return piece(m_columns, block % m_across, m_column_grain);
  }
  /// @}

 private:
  static constexpr std::uint64_t pieces(const range<Index> &whole, std::uint64_t grain) noexcept {
    return whole.empty() ? 0 : (whole.size() - 1) / grain + 1;
  }
  static constexpr range<Index> piece(const range<Index> &whole, std::uint64_t index,
                                      std::uint64_t grain) {
    const std::uint64_t left = whole.size() - index * grain;
    return whole.part(index * grain, left < grain ? left : grain);
  }

  range<Index> m_rows, m_columns;
  std::uint64_t m_row_grain, m_column_grain, m_down, m_across;
};

} // namespace weft::inline v0

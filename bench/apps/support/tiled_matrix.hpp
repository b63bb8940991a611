// SPDX-License-Identifier: Apache-2.0
// A square matrix in square tiles, each contiguous and stored by columns, as BLAS wants them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace app {

template <class T>
struct line_allocator { // tiles begin on cache lines when their size allows
  using value_type = T;
  line_allocator() = default;
  template <class U>
  line_allocator(const line_allocator<U> &) {}
  T *allocate(std::size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), k_line)); }
  void deallocate(T *p, std::size_t) { ::operator delete(p, k_line); }
  bool operator==(const line_allocator &) const = default;
  static constexpr std::align_val_t k_line{64};
};

class tiled_matrix {
 public:
  /// Creates a matrix of zeros; the last tile of a row or column may be smaller than the others.
  tiled_matrix(long order, long tile)
      : m_order(order), m_tile(tile),
        m_elements(static_cast<std::size_t>(count() * count() * tile * tile)) {}

  [[nodiscard]] long order() const { return m_order; }
  /// Returns the number of tiles in a row.
  [[nodiscard]] long count() const { return (m_order + m_tile - 1) / m_tile; }
  /// Returns the rows of the tiles in row `i`, and the columns of those in column `i`.
  [[nodiscard]] int rows(long i) const {
    return static_cast<int>(std::min(m_tile, m_order - i * m_tile));
  }
  /// Returns the distance from column to column of a tile.
  [[nodiscard]] int stride() const { return static_cast<int>(m_tile); }
  /// Returns the first element of tile (i, j), which names the tile in accesses.
  [[nodiscard]] double &tile(long i, long j) { return m_elements[first(i, j)]; }
  [[nodiscard]] const double &tile(long i, long j) const { return m_elements[first(i, j)]; }
  [[nodiscard]] double &operator()(long row, long column) { return m_elements[at(row, column)]; }
  [[nodiscard]] double operator()(long row, long column) const {
    return m_elements[at(row, column)];
  }

  /// Sets each element to f(row, column).
  template <class F>
  void fill(F f) {
    for (long c = 0; c < m_order; ++c)
      for (long r = 0; r < m_order; ++r)
        (*this)(r, c) = f(r, c);
  }
  void clear() { std::fill(m_elements.begin(), m_elements.end(), 0.0); }
  bool operator==(const tiled_matrix &) const = default;

 private:
  [[nodiscard]] std::size_t first(long i, long j) const {
    return static_cast<std::size_t>((i * count() + j) * m_tile * m_tile);
  }
  [[nodiscard]] std::size_t at(long row, long column) const {
    return first(row / m_tile, column / m_tile) +
           static_cast<std::size_t>(column % m_tile * m_tile + row % m_tile);
  }

  long m_order, m_tile;
  std::vector<double, line_allocator<double>> m_elements;
};

/// Returns the matrix times a vector.
inline std::vector<double> operator*(const tiled_matrix &a, const std::vector<double> &x) {
  std::vector<double> y(x.size());
  for (long c = 0; c < a.order(); ++c)
    for (long r = 0; r < a.order(); ++r)
      y[static_cast<std::size_t>(r)] += a(r, c) * x[static_cast<std::size_t>(c)];
  return y;
}

} // namespace app

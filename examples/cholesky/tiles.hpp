// SPDX-License-Identifier: Apache-2.0
// Matrices cut into tiles. A tile lies contiguous, column by column; its first element names it in accesses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace demo {

/// Says how `order` rows are cut into blocks of `tile` rows; the last block may be shorter.
struct blocking {
  int order = 0;
  int tile = 1;
  [[nodiscard]] int count() const { return (order + tile - 1) / tile; }
  [[nodiscard]] int first(int block) const { return block * tile; }
  [[nodiscard]] int rows(int block) const { return std::min(tile, order - first(block)); }
};

/// Holds uninitialised doubles on cache lines; grows when it must and never shrinks.
class buffer {
 public:
  void reserve(std::size_t size) {
    if (size <= m_size)
      return;
    m_memory.reset(static_cast<double *>(::operator new(size * sizeof(double), k_line)));
    m_size = size;
  }
  [[nodiscard]] double &operator[](std::size_t i) const { return m_memory.get()[i]; }

 private:
  static constexpr std::align_val_t k_line{64};
  struct release {
    void operator()(double *p) const { ::operator delete(p, k_line); }
  };
  std::unique_ptr<double, release> m_memory;
  std::size_t m_size = 0;
};

/// Holds the lower triangle of a symmetric matrix, in square tiles.
class tiles {
 public:
  /// Gives the matrix its shape; the elements are undefined.
  void reset(blocking b) {
    m_blocks = b;
    m_memory.reserve(offset(b.count(), 0));
  }
  [[nodiscard]] const blocking &blocks() const { return m_blocks; }
  /// Returns the first element of tile (i, j), i >= j.
  [[nodiscard]] double &operator()(int i, int j) const { return m_memory[offset(i, j)]; }

 private:
  [[nodiscard]] std::size_t offset(int i, int j) const {
    const auto row = static_cast<std::size_t>(i), tile = static_cast<std::size_t>(m_blocks.tile);
    return (row * (row + 1) / 2 + static_cast<std::size_t>(j)) * tile * tile;
  }
  blocking m_blocks;
  buffer m_memory;
};

/// Holds a matrix of few columns, cut into blocks of rows.
class panel {
 public:
  void reset(blocking b, int columns) {
    m_blocks = b;
    m_columns = columns;
    m_memory.reserve(offset(b.count()));
  }
  [[nodiscard]] const blocking &blocks() const { return m_blocks; }
  [[nodiscard]] int columns() const { return m_columns; }
  /// Returns the first element of block i.
  [[nodiscard]] double &operator()(int i) const { return m_memory[offset(i)]; }

 private:
  [[nodiscard]] std::size_t offset(int i) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(m_blocks.tile) *
           static_cast<std::size_t>(m_columns);
  }
  blocking m_blocks;
  int m_columns = 0;
  buffer m_memory;
};

} // namespace demo

// SPDX-License-Identifier: Apache-2.0
#include "sparselu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

const app::description app::about{
    .name = "sparselu",
    .title = "Sparse LU factorisation in blocks",
    .size = {"size", 1, 1L << 14, 1024, "rows of the matrix, a multiple of the cells"},
    .tile = {"tile", 1, 1L << 14, 32, "rows of a block, a divisor of the rows of a cell"},
    .own = {{"cells", 1, 1024, 8, "cells along an edge, which are empty or dense"}},
    .sweep = {4, 8, 16, 32, 64, 128},
    .small = {128, 8},
    .tolerance = 0,
    .defect_bound = 1e-13,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  const long size = chosen["size"], tile = chosen["tile"], cells = chosen["cells"];
  if (size % cells != 0)
    throw bad_option("--size " + std::to_string(size) + " is not a multiple of --cells " +
                     std::to_string(cells));
  if (size / cells % tile != 0)
    throw bad_option("--tile " + std::to_string(tile) + " does not divide the " +
                     std::to_string(size / cells) + " rows of a cell, --size over --cells");
  return std::make_unique<sparselu>(size, tile, cells);
}

sparselu::sparselu(long size, long tile, long cells)
    : m_size(size), m_tile(tile), m_blocks(size / tile), m_cell(size / cells),
      m_at(static_cast<std::size_t>(m_blocks * m_blocks)) {}

/// Returns whether an element is in the pattern: the diagonal, its neighbours, and even cells in
/// every third row or column from the diagonal on.
bool sparselu::in_pattern(long i, long j) const {
  const long a = i / m_cell, b = j / m_cell;
  return std::abs(a - b) <= 1 || (a % 2 == 0 && b % 2 == 0 && std::min(a, b) % 3 == 0);
}

/// Returns an element of the input. Any numbers are fine as long as the diagonal dominates.
double sparselu::input(long i, long j) const {
  const std::uint64_t mixed = static_cast<std::uint64_t>(i * m_size + j + 1) * 0x9e3779b97f4a7c15u;
  const double between = static_cast<double>(mixed >> 40) / static_cast<double>(1u << 24) - 0.5;
  return i == j ? static_cast<double>(m_size) + between : between;
}

void sparselu::reset() {
  for (long i = 0; i < m_blocks; ++i)
    for (long j = 0; j < m_blocks; ++j) {
      std::unique_ptr<double[]> &block = m_at[static_cast<std::size_t>(i * m_blocks + j)];
      if (!in_pattern(i * m_tile, j * m_tile)) {
        block = nullptr;
        continue;
      }
      if (!block)
        block = std::make_unique<double[]>(static_cast<std::size_t>(m_tile * m_tile));
      for (long r = 0; r < m_tile; ++r)
        for (long c = 0; c < m_tile; ++c)
          block[r * m_tile + c] = input(i * m_tile + r, j * m_tile + c);
    }
}

bool sparselu::fill_in(long i, long j) {
  std::unique_ptr<double[]> &block = m_at[static_cast<std::size_t>(i * m_blocks + j)];
  if (block)
    return false;
  block.reset(
      new double[static_cast<std::size_t>(m_tile * m_tile)]); // not cleared: the task does that
  return true;
}

void sparselu::factor(double *diagonal) const {
  app::count_task();
  for (long k = 0; k < m_tile; ++k)
    for (long i = k + 1; i < m_tile; ++i) {
      const double f = diagonal[i * m_tile + k] /= diagonal[k * m_tile + k];
      for (long j = k + 1; j < m_tile; ++j)
        diagonal[i * m_tile + j] -= f * diagonal[k * m_tile + j];
    }
}

void sparselu::solve_row(const double *diagonal, double *right) const {
  app::count_task();
  for (long k = 0; k < m_tile; ++k)
    for (long i = k + 1; i < m_tile; ++i) {
      const double f = diagonal[i * m_tile + k];
      for (long j = 0; j < m_tile; ++j)
        right[i * m_tile + j] -= f * right[k * m_tile + j];
    }
}

void sparselu::solve_column(const double *diagonal, double *below) const {
  app::count_task();
  for (long i = 0; i < m_tile; ++i)
    for (long k = 0; k < m_tile; ++k) {
      const double f = below[i * m_tile + k] /= diagonal[k * m_tile + k];
      for (long j = k + 1; j < m_tile; ++j)
        below[i * m_tile + j] -= f * diagonal[k * m_tile + j];
    }
}

void sparselu::update(const double *column, const double *row, double *inner, bool fresh) const {
  app::count_task();
  if (fresh)
    std::fill_n(inner, m_tile * m_tile, 0.0);
  for (long i = 0; i < m_tile; ++i)
    for (long k = 0; k < m_tile; ++k) {
      const double f = column[i * m_tile + k];
      for (long j = 0; j < m_tile; ++j)
        inner[i * m_tile + j] -= f * row[k * m_tile + j];
    }
}

struct sparselu::serial {
  sparselu &s;
  void factor(long k) { s.factor(s.at(k, k)); }
  void row(long k, long j) { s.solve_row(s.at(k, k), s.at(k, j)); }
  void column(long i, long k) { s.solve_column(s.at(k, k), s.at(i, k)); }
  void update(long i, long j, long k, bool fresh) {
    s.update(s.at(i, k), s.at(k, j), s.at(i, j), fresh);
  }
};

void sparselu::run_serial() { visit(serial{*this}); }

void sparselu::remember() {
  m_kept.clear();
  for (const auto &block : m_at)
    m_kept.emplace_back(block.get(), block ? block.get() + m_tile * m_tile : nullptr);
  m_defect = residual();
}

double sparselu::difference() const {
  double most = 0;
  for (std::size_t b = 0; b < m_at.size(); ++b) {
    if (m_at[b] ? m_kept[b].empty() : !m_kept[b].empty())
      return 1;
    for (std::size_t e = 0; e < m_kept[b].size(); ++e)
      if (const double d = std::abs(m_at[b][e] - m_kept[b][e]); !(d <= most)) // NaN stays
        most = std::isnan(d) ? 1 : d;
  }
  return most;
}

double sparselu::checksum() const {
  double sum = 0;
  for (long k = 0; k < m_size; ++k)
    sum += std::log(at(k / m_tile, k / m_tile)[k % m_tile * m_tile + k % m_tile]);
  return sum; // the logarithm of the determinant
}

// SPDX-License-Identifier: Apache-2.0
// LU factorisation of a sparse matrix of blocks, most of which are empty, without pivoting; the structure is
// that of the benchmark of the Barcelona OpenMP Tasks Suite (Duran et al., ICPP 2009). Blocks that fill in
// are allocated when the task that fills them is created.
//
// The empty blocks are laid out in `cells` x `cells` cells, which are empty or dense, so that the
// arithmetic is the same at all tiles.
#pragma once

#include "../support/application.hpp"

#include <memory>

class sparselu final : public app::application {
 public:
  sparselu(long size, long tile, long cells);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override;
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override { return m_defect; }
  [[nodiscard]] double checksum() const override;

 private:
  [[nodiscard]] double *at(long i, long j) const {
    return m_at[static_cast<std::size_t>(i * m_blocks + j)].get();
  }
  /// Makes space for a block that fills in; returns true when it was empty.
  bool fill_in(long i, long j);
  /// Calls v.factor(k), v.row(k, j), v.column(i, k) and v.update(i, j, k, fresh) for each task, in an order
  /// that the accesses allow.
  template <class Visitor>
  void visit(Visitor &&v);

  // The kernels, on blocks of m_tile x m_tile, row by row.
  void factor(double *diagonal) const;
  void solve_row(const double *diagonal, double *right) const;
  void solve_column(const double *diagonal, double *below) const;
  /// Updates a block; a fresh one counts as zero.
  void update(const double *column, const double *row, double *inner, bool fresh) const;

  [[nodiscard]] bool in_pattern(long i, long j) const;
  [[nodiscard]] double input(long i, long j) const;
  [[nodiscard]] std::vector<double> multiply(const std::vector<double> &x) const;
  void solve(std::vector<double> &x) const;
  [[nodiscard]] double residual() const;

  struct serial;
  struct tasks;

  long m_size, m_tile, m_blocks, m_cell; // m_cell: rows of one
  std::vector<std::unique_ptr<double[]>> m_at;
  std::vector<std::vector<double>> m_kept;
  double m_defect = 0;
};

template <class Visitor>
void sparselu::visit(Visitor &&v) {
  for (long k = 0; k < m_blocks; ++k) {
    v.factor(k);
    for (long j = k + 1; j < m_blocks; ++j)
      if (at(k, j))
        v.row(k, j);
    for (long i = k + 1; i < m_blocks; ++i) {
      if (!at(i, k))
        continue;
      v.column(i, k);
      for (long j = k + 1; j < m_blocks; ++j)
        if (at(k, j))
          v.update(i, j, k, fill_in(i, j));
    }
  }
}

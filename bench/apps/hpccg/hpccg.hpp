// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for a 27-point operator on a cube, as Mantevo's HPCCG: 27 on the diagonal, -1 for each
// neighbour, in compressed rows; the solution is 1 everywhere. A block is a number of consecutive rows; its
// part of the matrix-vector product reads as many blocks of the vector as its rows have columns in.
#pragma once

#include "../support/application.hpp"

class hpccg final : public app::application {
 public:
  hpccg(long size, long tile, long iterations);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override;
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override { return m_defect; }
  [[nodiscard]] double checksum() const override;

 private:
  struct block {
    std::size_t begin, end; // rows
    std::vector<int> reads; // blocks that hold the columns of its rows
  };

  void make_matrix();
  void make_blocks(long tile);
  [[nodiscard]] double true_residual() const;

  // The kernels. Those of a block take its number.
  void multiply(std::size_t b); // ap = A p
  [[nodiscard]] double dot_p_ap(std::size_t b) const;
  void choose_alpha(double p_ap);
  void advance_x(std::size_t b); // x += alpha p
  void advance_r(std::size_t b); // r -= alpha ap
  [[nodiscard]] double dot_r_r(std::size_t b) const;
  void choose_beta(double r_r);
  void advance_p(std::size_t b); // p = r + beta p

  struct tasks;

  long m_edge, m_iterations;
  std::vector<std::size_t> m_first; // of each row, in the next two
  std::vector<int> m_column;
  std::vector<double> m_value;
  std::vector<block> m_blocks;
  std::vector<double> m_right, m_x, m_r, m_p, m_ap;
  // Dot products: one part for each block, or the sum where a back end has task reductions.
  std::vector<double> m_part_p_ap, m_part_r_r;
  double m_sum_p_ap = 0, m_sum_r_r = 0;
  double m_alpha = 0, m_beta = 0, m_r_r = 0;
  std::vector<double> m_kept;
  double m_defect = 0;
};

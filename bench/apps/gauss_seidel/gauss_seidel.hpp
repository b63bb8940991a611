// SPDX-License-Identifier: Apache-2.0
// The heat equation on a square plate by Gauss-Seidel's method, in blocks; each sweep has a
// residual. A block waits for its upper and left neighbours of the same sweep, and for its other
// neighbours of the sweep before.
#pragma once

#include "../support/application.hpp"

#include <algorithm>

class gauss_seidel final : public app::application {
 public:
  gauss_seidel(long size, long tile, long sweeps);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override;
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override;
  [[nodiscard]] double checksum() const override { return m_residuals.back(); }

 private:
  static constexpr long k_most_sweeps = 64;

  [[nodiscard]] long blocks() const { return (m_size + m_tile - 1) / m_tile; }
  /// Returns the first row, and column, of a block; -1 and blocks() are the borders.
  [[nodiscard]] long first(long block) const {
    return block < 0 ? 0 : std::min(block * m_tile, m_size) + 1;
  }
  /// Returns the first element of a block, which names the block in accesses.
  [[nodiscard]] double &block(long i, long j) { return m_plate[at(first(i), first(j))]; }
  [[nodiscard]] std::size_t at(long row, long column) const {
    return static_cast<std::size_t>(row * (m_size + 2) + column);
  }
  /// The kernel: sweeps over one block; returns the sum of the squares of the changes.
  double relax(long i, long j);

  long m_size, m_tile;
  std::vector<double> m_plate, m_kept_plate;
  std::vector<double> m_residuals, m_kept_residuals; // one for each sweep
};

// SPDX-License-Identifier: Apache-2.0
// The dot product of two vectors in blocks; a task multiplies one block, the products are reduced.
#pragma once

#include "../support/application.hpp"

/// Multiplies vectors that repeat themselves after `period` elements, so that the memory's speed is
/// not measured.
class dot final : public app::application {
 public:
  dot(long size, long tile, long period);
  void reset() override { m_sum = 0; }
  void run_serial() override;
  void run_tasks() override;
  void remember() override { m_kept = m_sum; }
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override;
  [[nodiscard]] double checksum() const override { return m_sum; }

 private:
  [[nodiscard]] long blocks() const { return (m_size + m_tile - 1) / m_tile; }
  /// Return the first elements of a block.
  [[nodiscard]] const double &x(long block) const { return m_x[start(block)]; }
  [[nodiscard]] const double &y(long block) const { return m_y[start(block)]; }
  [[nodiscard]] std::size_t start(long block) const {
    return static_cast<std::size_t>(block * m_tile % m_period);
  }
  /// The kernel: returns the product of one block.
  [[nodiscard]] double multiply(long block) const;

  long m_size, m_tile, m_period;
  std::vector<double> m_x, m_y;
  double m_sum = 0, m_kept = 0;
};

// SPDX-License-Identifier: Apache-2.0
// The product of two square matrices in tiles: C(i, j) is a chain of tasks over k.
#pragma once

#include "../support/application.hpp"
#include "../support/tiled_matrix.hpp"

class matmul final : public app::application {
 public:
  matmul(long size, long tile);
  void reset() override { m_c.clear(); }
  void run_serial() override;
  void run_tasks() override;
  void remember() override { m_kept = m_c; }
  [[nodiscard]] double difference() const override { return m_c == m_kept ? 0 : 1; }
  [[nodiscard]] double defect() const override;
  [[nodiscard]] double checksum() const override { return m_c(0, 0); }

 private:
  /// The kernel: C(i, j) += A(i, k) B(k, j).
  void multiply(long i, long j, long k);

  app::tiled_matrix m_a, m_b, m_c, m_kept;
};

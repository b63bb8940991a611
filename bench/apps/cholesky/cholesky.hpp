// SPDX-License-Identifier: Apache-2.0
// The tiled Cholesky decomposition A = L L^T.
#pragma once

#include "../support/application.hpp"
#include "../support/tiled_matrix.hpp"

class cholesky final : public app::application {
 public:
  cholesky(long size, long tile);
  void reset() override { m_l = m_a; }
  void run_serial() override;
  void run_tasks() override;
  void remember() override { m_kept = m_l; }
  [[nodiscard]] double difference() const override { return m_l == m_kept ? 0 : 1; }
  [[nodiscard]] double defect() const override;
  [[nodiscard]] double checksum() const override { return m_l(m_l.order() - 1, m_l.order() - 1); }

 private:
  /// The kernels: they factor a tile of the diagonal, solve for one below it, and update the rest.
  void potrf(long k);
  void trsm(long i, long k);
  void syrk(long j, long k);
  void gemm(long i, long j, long k);

  app::tiled_matrix m_a, m_l, m_kept; // of L the lower tiles
};

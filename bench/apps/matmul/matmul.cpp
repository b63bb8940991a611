// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

#include "../support/blas.hpp"
#include "../support/random.hpp"

const app::description app::about{
    .name = "matmul",
    .title = "Matrix product",
    .size = {"size", 1, 1L << 15, 512, "rows of a matrix"},
    .tile = {"tile", 1, 1L << 12, 64, "rows of a tile"},
    .own = {},
    .sweep = {8, 12, 16, 24, 32, 48, 64, 96, 128, 256},
    .small = {150, 24},
    .defect_bound = 1e-12,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  app::use_one_blas_thread();
  return std::make_unique<matmul>(chosen["size"], chosen["tile"]);
}

matmul::matmul(long size, long tile)
    : m_a(size, tile), m_b(size, tile), m_c(size, tile), m_kept(size, tile) {
  m_a.fill([](long r, long c) { return app::random_number(r, c); });
  m_b.fill([](long r, long c) { return app::random_number(r, c + (1L << 20)); });
}

void matmul::multiply(long i, long j, long k) {
  app::count_task();
  const int stride = m_c.stride();
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m_c.rows(i), m_c.rows(j), m_c.rows(k), 1.0,
              &m_a.tile(i, k), stride, &m_b.tile(k, j), stride, 1.0, &m_c.tile(i, j), stride);
}

void matmul::run_serial() {
  const long n = m_c.count();
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      for (long k = 0; k < n; ++k)
        multiply(i, j, k);
}

/// Returns |C x - A (B x)| / |C x|.
double matmul::defect() const {
  const std::vector<double> x = app::random_vector(m_c.order());
  return app::distance(m_kept * x, m_a * (m_b * x));
}

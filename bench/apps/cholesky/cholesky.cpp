// SPDX-License-Identifier: Apache-2.0
#include "cholesky.hpp"

#include "../support/blas.hpp"
#include "../support/random.hpp"

const app::description app::about{
    .name = "cholesky",
    .title = "Cholesky decomposition",
    .size = {"size", 1, 1L << 15, 1024, "rows of the matrix"},
    .tile = {"tile", 1, 1L << 12, 64, "rows of a tile"},
    .own = {},
    .sweep = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256},
    .small = {220, 24},
    .defect_bound = 1e-12,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  app::use_one_blas_thread();
  return std::make_unique<cholesky>(chosen["size"], chosen["tile"]);
}

/// Returns an element: random off the diagonal, the matrix's order on it, so positive definite.
cholesky::cholesky(long size, long tile) : m_a(size, tile), m_l(size, tile), m_kept(size, tile) {
  m_a.fill([size](long r, long c) {
    return r == c ? static_cast<double>(size) : app::random_number(std::max(r, c), std::min(r, c));
  });
}

void cholesky::potrf(long k) {
  app::count_task();
  const int n = m_l.rows(k), stride = m_l.stride();
  int info = 0; // a failure shows in the defect
  dpotrf_("L", &n, &m_l.tile(k, k), &stride, &info);
}

void cholesky::trsm(long i, long k) {
  app::count_task();
  const int stride = m_l.stride();
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m_l.rows(i),
              m_l.rows(k), 1.0, &m_l.tile(k, k), stride, &m_l.tile(i, k), stride);
}

void cholesky::syrk(long j, long k) {
  app::count_task();
  const int stride = m_l.stride();
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, m_l.rows(j), m_l.rows(k), -1.0,
              &m_l.tile(j, k), stride, 1.0, &m_l.tile(j, j), stride);
}

void cholesky::gemm(long i, long j, long k) {
  app::count_task();
  const int stride = m_l.stride();
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m_l.rows(i), m_l.rows(j), m_l.rows(k), -1.0,
              &m_l.tile(i, k), stride, &m_l.tile(j, k), stride, 1.0, &m_l.tile(i, j), stride);
}

void cholesky::run_serial() {
  const long n = m_l.count();
  for (long k = 0; k < n; ++k) {
    potrf(k);
    for (long i = k + 1; i < n; ++i)
      trsm(i, k);
    for (long j = k + 1; j < n; ++j) {
      syrk(j, k);
      for (long i = j + 1; i < n; ++i)
        gemm(i, j, k);
    }
  }
}

/// Returns |A x - L (L^T x)| / |A x|.
double cholesky::defect() const {
  const long n = m_a.order();
  const std::vector<double> x = app::random_vector(n);
  std::vector<double> y(x.size()), z(x.size());
  for (long c = 0; c < n; ++c)
    for (long r = c; r < n; ++r)
      y[static_cast<std::size_t>(c)] += m_kept(r, c) * x[static_cast<std::size_t>(r)];
  for (long c = 0; c < n; ++c)
    for (long r = c; r < n; ++r)
      z[static_cast<std::size_t>(r)] += m_kept(r, c) * y[static_cast<std::size_t>(c)];
  return app::distance(m_a * x, z);
}

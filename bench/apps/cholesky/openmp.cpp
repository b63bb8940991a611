// SPDX-License-Identifier: Apache-2.0
#include "cholesky.hpp"

void cholesky::run_tasks() {
  app::tiled_matrix &l = m_l;
  const long n = l.count();
  for (long k = 0; k < n; ++k) {
#pragma omp task depend(inout : l.tile(k, k)) firstprivate(k)
    potrf(k);
    for (long i = k + 1; i < n; ++i) {
#pragma omp task depend(in : l.tile(k, k)) depend(inout : l.tile(i, k)) firstprivate(i, k)
      trsm(i, k);
    }
    for (long j = k + 1; j < n; ++j) {
#pragma omp task depend(in : l.tile(j, k)) depend(inout : l.tile(j, j)) firstprivate(j, k)
      syrk(j, k);
      for (long i = j + 1; i < n; ++i) {
#pragma omp task depend(in : l.tile(i, k), l.tile(j, k)) depend(inout : l.tile(i, j))              \
    firstprivate(i, j, k)
        gemm(i, j, k);
      }
    }
  }
#pragma omp taskwait
}

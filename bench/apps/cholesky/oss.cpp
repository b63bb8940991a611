// SPDX-License-Identifier: Apache-2.0
#include "cholesky.hpp"

void cholesky::run_tasks() {
  app::tiled_matrix &l = m_l;
  const long n = l.count();
  for (long k = 0; k < n; ++k) {
#pragma oss task inout(l.tile(k, k)) label("potrf")
    potrf(k);
    for (long i = k + 1; i < n; ++i) {
#pragma oss task in(l.tile(k, k))inout(l.tile(i, k)) label("trsm")
      trsm(i, k);
    }
    for (long j = k + 1; j < n; ++j) {
#pragma oss task in(l.tile(j, k))inout(l.tile(j, j)) label("syrk")
      syrk(j, k);
      for (long i = j + 1; i < n; ++i) {
#pragma oss task in(l.tile(i, k), l.tile(j, k))inout(l.tile(i, j)) label("gemm")
        gemm(i, j, k);
      }
    }
  }
#pragma oss taskwait
}

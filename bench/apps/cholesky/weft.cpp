// SPDX-License-Identifier: Apache-2.0
#include "cholesky.hpp"

#include <weft/weft.hpp>

using weft::in;
using weft::inout;
using weft::label;

void cholesky::run_tasks() {
  app::tiled_matrix &l = m_l;
  const long n = l.count();
  for (long k = 0; k < n; ++k) {
    weft::spawn([this, k] { potrf(k); }, inout(l.tile(k, k)), label("potrf"));
    for (long i = k + 1; i < n; ++i)
      weft::spawn([this, i, k] { trsm(i, k); }, in(l.tile(k, k)), inout(l.tile(i, k)),
                  label("trsm"));
    for (long j = k + 1; j < n; ++j) {
      weft::spawn([this, j, k] { syrk(j, k); }, in(l.tile(j, k)), inout(l.tile(j, j)),
                  label("syrk"));
      for (long i = j + 1; i < n; ++i)
        weft::spawn([this, i, j, k] { gemm(i, j, k); }, in(l.tile(i, k)), in(l.tile(j, k)),
                    inout(l.tile(i, j)), label("gemm"));
    }
  }
  weft::taskwait();
}

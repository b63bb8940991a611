// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.hpp"

void gauss_seidel::run_tasks() {
  for (double &residual : m_residuals)
    for (long i = 0; i < blocks(); ++i)
      for (long j = 0; j < blocks(); ++j) {
#pragma oss task in(block(i - 1, j), block(i, j - 1)) inout(block(i, j))                           \
    in(block(i, j + 1), block(i + 1, j)) reduction(+ : residual) label("relax")
        residual += relax(i, j);
      }
#pragma oss taskwait
}

// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.hpp"

#include <weft/weft.hpp>

using weft::in;
using weft::inout;

void gauss_seidel::run_tasks() {
  for (double &residual : m_residuals)
    for (long i = 0; i < blocks(); ++i)
      for (long j = 0; j < blocks(); ++j)
        weft::spawn([this, &residual, i, j] { weft::reduction_local(residual) += relax(i, j); },
                    in(block(i - 1, j)), in(block(i, j - 1)), inout(block(i, j)),
                    in(block(i, j + 1)), in(block(i + 1, j)), weft::reduction(residual, weft::sum),
                    weft::label("relax"));
  weft::taskwait();
}

// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.hpp"

void gauss_seidel::run_tasks() {
  double residuals[k_most_sweeps] = {};
  const long sweeps = static_cast<long>(m_residuals.size());
#pragma omp taskgroup task_reduction(+ : residuals)
  for (long s = 0; s < sweeps; ++s)
    for (long i = 0; i < blocks(); ++i)
      for (long j = 0; j < blocks(); ++j) {
#pragma omp task depend(in : block(i - 1, j), block(i, j - 1), block(i, j + 1), block(i + 1, j))   \
    depend(inout : block(i, j)) in_reduction(+ : residuals) firstprivate(s, i, j)
        residuals[s] += relax(i, j);
      }
  m_residuals.assign(residuals, residuals + sweeps);
}

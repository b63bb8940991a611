// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

void matmul::run_tasks() {
  const long n = m_c.count();
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      for (long k = 0; k < n; ++k) {
#pragma omp task depend(in : m_a.tile(i, k), m_b.tile(k, j)) depend(inout : m_c.tile(i, j))        \
    firstprivate(i, j, k)
        multiply(i, j, k);
      }
#pragma omp taskwait
}

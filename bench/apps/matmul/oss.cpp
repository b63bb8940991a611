// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

void matmul::run_tasks() {
  const long n = m_c.count();
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      for (long k = 0; k < n; ++k) {
#pragma oss task in(m_a.tile(i, k), m_b.tile(k, j))inout(m_c.tile(i, j)) label("multiply")
        multiply(i, j, k);
      }
#pragma oss taskwait
}

// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

#include <weft/weft.hpp>

void matmul::run_tasks() {
  const long n = m_c.count();
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      for (long k = 0; k < n; ++k)
        weft::spawn([this, i, j, k] { multiply(i, j, k); }, weft::in(m_a.tile(i, k)),
                    weft::in(m_b.tile(k, j)), weft::inout(m_c.tile(i, j)), weft::label("multiply"));
  weft::taskwait();
}

// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

#include <weft/weft.hpp>

void dot::run_tasks() {
  for (long b = 0; b < blocks(); ++b)
    weft::spawn([this, b] { weft::reduction_local(m_sum) += multiply(b); }, weft::in(x(b)),
                weft::in(y(b)), weft::reduction(m_sum, weft::sum), weft::label("multiply"));
  weft::taskwait();
}

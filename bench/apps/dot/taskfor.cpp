// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

#include <weft/weft.hpp>

/// Runs one task, whose blocks idle workers share: Weft's construct for a loop without order.
void dot::run_tasks() {
  weft::taskfor(
      weft::range(blocks()), [this](long b) { weft::reduction_local(m_sum) += multiply(b); },
      weft::grain_size(1), weft::reduction(m_sum, weft::sum), weft::label("multiply"));
  weft::taskwait();
}

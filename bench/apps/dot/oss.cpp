// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

void dot::run_tasks() {
  for (long b = 0; b < blocks(); ++b) {
#pragma oss task in(x(b), y(b))reduction(+ : m_sum) label("multiply")
    m_sum += multiply(b);
  }
#pragma oss taskwait
}

// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

void dot::run_tasks() {
  double sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  for (long b = 0; b < blocks(); ++b) {
#pragma omp task depend(in : x(b), y(b)) in_reduction(+ : sum) firstprivate(b)
    sum += multiply(b);
  }
  m_sum = sum;
}

// SPDX-License-Identifier: Apache-2.0
#include "two_wave.hpp"

void two_wave::run_tasks() {
  for (long i = 0; i < tasks(); ++i) {
#pragma omp task depend(inout : a(i)) firstprivate(i)
    first(i);
  }
  for (long i = 0; i < tasks(); ++i) {
#pragma omp task depend(in : a(i)) depend(out : b(i)) firstprivate(i)
    second(i);
  }
#pragma omp taskwait
}

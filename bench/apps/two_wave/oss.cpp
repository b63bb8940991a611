// SPDX-License-Identifier: Apache-2.0
#include "two_wave.hpp"

void two_wave::run_tasks() {
  for (long i = 0; i < tasks(); ++i) {
#pragma oss task inout(a(i)) label("first")
    first(i);
  }
  for (long i = 0; i < tasks(); ++i) {
#pragma oss task in(a(i))out(b(i)) label("second")
    second(i);
  }
#pragma oss taskwait
}

// SPDX-License-Identifier: Apache-2.0
// A part in OpenMP, which two compilers compile.
#pragma once

#include "part.hpp"

extern "C" {
void omp_set_max_active_levels(int);
}

namespace {

int g_threads = 2;

void begin(int threads) {
  g_threads = threads;
  omp_set_max_active_levels(16);
}

void loop(int n, one_pool::body b) {
  one_pool::kept_exception kept;
#pragma omp parallel for schedule(dynamic, 1) num_threads(g_threads)
  for (int i = 0; i < n; ++i)
    kept.run([&] { b(i); });
  kept.rethrow();
}

void tasks(int n, one_pool::body b) {
  one_pool::kept_exception kept;
#pragma omp parallel num_threads(g_threads)
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task firstprivate(i) shared(b, kept)
    kept.run([&] { b(i); });
  }
  kept.rethrow();
}

void until(int n, one_pool::body b) {
#pragma omp parallel num_threads(g_threads)
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < n; ++i) {
      if (b(i)) {
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
  }
}

} // namespace

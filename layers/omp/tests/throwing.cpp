// SPDX-License-Identifier: Apache-2.0
// Threads throw, allocate and leak nothing, in a program that is built with a sanitizer and a Weft
// that is not. Exit status 0: each thread did or, if ONE is set, regions had one thread.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

thread_local std::vector<int> *t_kept = nullptr;

int main() {
  int caught = 0, threads = 0;
  for (int round = 0; round < 3; ++round) {
    threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : caught, threads)
    {
      ++threads;
      try {
        const std::vector<int> v(100, 1);
        throw std::runtime_error(std::to_string(v[3]));
      } catch (const std::exception &e) {
        caught += e.what()[0] == '1';
      }
      const std::string *const text = new std::string(1000, 'x');
#pragma omp barrier
      delete text;
    }
  }
#pragma omp parallel num_threads(4)
  t_kept = new std::vector<int>(100, 7); // no leak: the thread still has it
  int kept = 0;
#pragma omp parallel num_threads(4) reduction(+ : kept)
  kept += (*t_kept)[99] == 7;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task
    try {
      throw i;
    } catch (int n) {
#pragma omp atomic
      caught += n == i;
    }
  }
#if defined(ONE)
  const int wanted = 1;
#else
  const int wanted = 4;
#endif
  std::printf("throwing: %d threads, %d caught\n", threads, caught);
  return threads != wanted || kept != wanted || caught != 3 * wanted + 20;
}

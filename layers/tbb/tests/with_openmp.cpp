// SPDX-License-Identifier: Apache-2.0
// OpenMP regions inside of TBB's tasks, TBB inside of OpenMP regions, and both beside each other.
#include "door.hpp"
#include "sums.hpp"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <omp.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

int main() {
  const int threads = door::threads_asked();
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(threads));
  std::atomic<int> wrong{0};
  tbb::enumerable_thread_specific<int> regions(0);
  for (int round = 0; round < 20; ++round)
    tbb::parallel_for(0, 20, [&](int i) {
      wrong += sum_by_openmp(1000 + i, 1 + i % 4) != (1000L + i) * (999 + i) / 2;
      ++regions.local(); // the task is on the thread that it began on
    });
  CHECK(wrong == 0);
  CHECK(regions.combine(std::plus<>()) == 400);
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(threads)
    {
      const long n = 2000 + omp_get_thread_num();
      if (sum_by_tbb(n) != n * (n - 1) / 2)
        ++wrong;
#pragma omp barrier
      if (sum_by_tbb(500) != 500 * 499 / 2)
        ++wrong;
    }
  }
  CHECK(wrong == 0);
  std::thread beside([&] {
    for (int i = 0; i < 50; ++i)
      wrong += sum_by_openmp(5000, 3) != 5000L * 4999 / 2;
  });
  for (int i = 0; i < 50; ++i)
    wrong += sum_by_tbb(5000) != 5000L * 4999 / 2;
  beside.join();
  CHECK(wrong == 0);
  door::check_threads();
  std::puts("with_openmp: ok");
}

// SPDX-License-Identifier: Apache-2.0
// A library that uses TBB. process.cpp loads and unloads it, and TBB with it.
#include <functional>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

extern "C" __attribute__((visibility("default"))) long sum_to(long n, int finalizes) {
  tbb::task_scheduler_handle handle;
  if (finalizes)
    handle = tbb::task_scheduler_handle(tbb::attach{});
  long sum = 0;
  {
    tbb::task_arena arena(4);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
    arena.execute([&] {
      sum = tbb::parallel_reduce(
          tbb::blocked_range<long>(0, n), 0L,
          [](const tbb::blocked_range<long> &r, long s) {
            for (long i = r.begin(); i < r.end(); ++i)
              s += i;
            return s;
          },
          std::plus<>());
    });
  }
  if (finalizes && !tbb::finalize(handle, std::nothrow))
    return -1;
  return sum;
}

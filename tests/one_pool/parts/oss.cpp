// SPDX-License-Identifier: Apache-2.0
// compiled by: weft-c++
// A loop of tasks, and a task per index.
#include "../part.hpp"

#include <atomic>

namespace {

void loop(int n, one_pool::body b) {
  one_pool::kept_exception kept;
#pragma oss taskloop grainsize(1) shared(b, kept)
  for (int i = 0; i < n; ++i)
    kept.run([&] { b(i); });
#pragma oss taskwait
  kept.rethrow();
}

void tasks(int n, one_pool::body b) {
  one_pool::kept_exception kept;
  for (int i = 0; i < n; ++i) {
#pragma oss task shared(b, kept) firstprivate(i)
    kept.run([&] { b(i); });
  }
#pragma oss taskwait
  kept.rethrow();
}

void until(int n, one_pool::body b) {
  std::atomic<bool> over{false};
  for (int i = 0; i < n; ++i) {
#pragma oss task shared(b, over) firstprivate(i)
    if (!over.load() && b(i))
      over.store(true);
  }
#pragma oss taskwait
}

} // namespace

ONE_POOL_PART one_pool_oss{"pragmas", one_pool::place::task, nullptr, nullptr, nullptr, &loop,
                           &tasks,    &until};

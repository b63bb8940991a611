/* SPDX-License-Identifier: Apache-2.0
   Tasks of a cancelled group: none of them begins any more, neither one that the task that opened
   the group makes afterwards, and the copies of its data are destroyed. */
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "discarded: %s\n", what);
  std::abort();
}

std::atomic<int> g_live{0};

struct counted {
  int value = 1;
  counted() { ++g_live; }
  counted(const counted &other) : value(other.value) { ++g_live; }
  counted &operator=(const counted &) = default;
  ~counted() { --g_live; }
};

/// An implicit task makes tasks after its group was cancelled.
int run_after_cancel() {
  std::atomic<int> ran{0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
#pragma omp taskwait
    counted c;
    for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(c) shared(ran)
      ran += c.value;
    }
  }
  return ran;
}

/// Tasks that were made before the group is cancelled, of which most never begin.
int run_with_cancel(int tasks) {
  std::atomic<int> ran{0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    counted c;
    for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(c) shared(ran)
      {
        ran += c.value;
#pragma omp cancel taskgroup
      }
    }
  }
  return ran;
}

/// The same of the tasks of a loop.
void run_loop_with_cancel() {
#pragma omp parallel
#pragma omp single
  {
    counted c;
#pragma omp taskloop firstprivate(c) grainsize(1)
    for (int i = 0; i < 100; ++i) {
      require(c.value == 1, "the copy is whole");
#pragma omp cancel taskgroup
    }
  }
}

} // namespace

int main() {
  require(run_after_cancel() == 0, "a task began after its group was cancelled");
  require(g_live == 0, "copies for tasks after the cancellation are destroyed");
  for (int round = 0; round < 20; ++round) {
    require(run_with_cancel(100) >= 1, "the first task runs");
    require(g_live == 0, "copies of tasks that never began are destroyed");
    run_loop_with_cancel();
    require(g_live == 0, "copies of chunks that never began are destroyed");
  }
  std::puts("discarded: ok");
}

// SPDX-License-Identifier: Apache-2.0
// TBB inside of Weft's tasks, and Weft's tasks inside of TBB's.
#include "door.hpp"
#include "sums.hpp"

#include <atomic>
#include <functional>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <weft/weft.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// fork() waits for TBB's threads, and runs no task meanwhile: a task may wait for what the caller
/// holds.
void fork_beside_ready_tasks() {
  std::atomic<bool> works{false}, forks{false}, ends{false};
  std::atomic<int> in_fork{0};
  tbb::task_arena arena(2, 0); // no slot for this thread
  arena.enqueue([&] {
    works = true;
    while (!ends)
      sched_yield();
  });
  while (!works)
    usleep(100);
  const pthread_t me = pthread_self();
  for (int i = 0; i < 100; ++i)
    weft::spawn([&] {
      in_fork += forks && pthread_equal(pthread_self(), me);
      usleep(5000);
    });
  forks = true;
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  forks = false;
  ends = true;
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  weft::taskwait();
  CHECK(in_fork == 0);
}

} // namespace

int main() {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(door::threads_asked()));
  long value = 0;
  std::atomic<int> wrong{0}, ran{0};
  for (int i = 0; i < 100; ++i) {
    weft::spawn(
        [&, i] {
          wrong += sum_by_tbb(1000 + i) != (1000L + i) * (999 + i) / 2;
          value += i;
        },
        weft::inout(value));
    weft::spawn([&] { wrong += sum_by_tbb(3000) != 3000L * 2999 / 2; });
  }
  weft::taskwait();
  CHECK(wrong == 0 && value == 99 * 100 / 2);
  tbb::parallel_for(0, 100, [&](int) {
    weft::task_group g;
    for (int i = 0; i < 5; ++i)
      g.spawn([&] { ++ran; });
    g.wait();
  });
  CHECK(ran == 500);
  fork_beside_ready_tasks();
  door::check_threads();
  std::puts("with_weft: ok");
}

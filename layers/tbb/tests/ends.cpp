// SPDX-License-Identifier: Apache-2.0
// ends HOW: how a process ends while TBB's workers work or sleep, and children of fork() that have
// not ended TBB before. Each prints "ends: ok" when it ends as it should.
#include "door.hpp"
#include "sums.hpp"

#include <atomic>
#include <functional>
#include <thread>

#include <sched.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace {

/// Returns the exit status of a child that runs `body`.
template <class F>
int in_a_child(F &&body) {
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0)
    body();
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

tbb::task_arena &arena() {
  static tbb::task_arena a(4);
  return a;
}

/// Returns when a worker computes without an end.
void start_endless_task() {
  static std::atomic<bool> runs{false};
  static std::atomic<unsigned long> count{0};
  arena().enqueue([] {
    for (;; ++count)
      runs = true;
  });
  while (!runs)
    std::this_thread::yield();
}

/// Forks while threads of TBB's set their cpus, for which they take a lock that is held over a fork.
void fork_beside_loop() {
  cpu_set_t cpus;
  CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  CHECK(sum_by_tbb(1000) == 1000L * 999 / 2); // so that this thread is one of Weft's
  std::atomic<bool> runs{false}, has_forked{false};
  std::thread loop([&] {
    tbb::parallel_for(0, 1 << 16, [&](int) {
      if (has_forked)
        return;
      CHECK(sched_setaffinity(0, sizeof cpus, &cpus) == 0);
      runs = true;
    });
  });
  while (!runs)
    std::this_thread::yield();
  CHECK(in_a_child([] { _exit(9); }) == 9);
  has_forked = true;
  loop.join();
}

} // namespace

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const std::string how = argv[1];
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
  if (how == "endless") { // main ends while a worker computes
    CHECK(in_a_child([] {
            start_endless_task();
            std::exit(5);
          }) == 5);
  } else if (how == "worker_exits") { // a worker calls exit()
    CHECK(in_a_child([] {
            arena().enqueue([] { std::exit(6); });
            for (;;)
              pause();
          }) == 6);
  } else if (how == "forks") { // the parent's workers sleep
    for (int round = 0; round < 10; ++round) {
      CHECK(sum_by_tbb(100'000) == 100'000L * 99'999 / 2);
      CHECK(in_a_child([] { std::exit(sum_by_tbb(50'000) == 50'000L * 49'999 / 2 ? 7 : 1); }) == 7);
      CHECK(in_a_child([] { _exit(8); }) == 8);
    }
    CHECK(sum_by_tbb(100'000) == 100'000L * 99'999 / 2);
  } else if (how == "forks_in_task") { // the child is a copy of whichever thread runs the task
    std::atomic<int> wrong{0};
    tbb::parallel_for(0, 20, [&](int i) { wrong += in_a_child([&] { _exit(i); }) != i; });
    CHECK(wrong == 0);
  } else if (how == "forks_beside_loop") {
    for (int round = 0; round < 4; ++round)
      fork_beside_loop();
  } else {
    CHECK(how == "one of those above");
  }
  std::puts("ends: ok");
}

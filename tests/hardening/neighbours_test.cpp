// SPDX-License-Identifier: Apache-2.0
// Beside busy processes: what a task costs must not grow with them. Time on the wall is divided among all, so CPU time is counted.
#include "hardening/work.hpp"
#include "support/scale.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int k_busy = 4;

/// Processes that compute from release() on. To be made before Weft is started.
class neighbours {
 public:
  neighbours() {
    EXPECT_EQ(pipe(m_pipe), 0);
    for (pid_t &p : m_pids) {
      p = fork();
      if (p == 0)
        wait_and_compute();
    }
  }
  ~neighbours() {
    for (pid_t p : m_pids) {
      kill(p, SIGKILL);
      waitpid(p, nullptr, 0);
    }
  }
  neighbours(const neighbours &) = delete;
  neighbours &operator=(const neighbours &) = delete;
  void release() { EXPECT_EQ(write(m_pipe[1], "go!!", k_busy), k_busy); }

 private:
  [[noreturn]] void wait_and_compute() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char c;
    if (read(m_pipe[0], &c, 1) != 1)
      _exit(1);
    for (volatile unsigned n = 0;;)
      n = n + 1;
  }
  int m_pipe[2];
  std::array<pid_t, k_busy> m_pids{};
};

/// Seconds of all threads.
double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Waves with idle ends, where workers look for work, fall asleep and are woken.
double cost_of_waves(int waves) {
  const double before = cpu_seconds();
  for (int w = 0; w != waves; ++w) {
    for (int i = 0; i != 100; ++i)
      weft::spawn([] {
        for (volatile int k = 0; k != 2000;)
          k = k + 1;
      });
    weft::taskwait();
  }
  return cpu_seconds() - before;
}

double median_cost() {
  std::vector<double> all;
  for (int i = 0; i != 5; ++i)
    all.push_back(cost_of_waves(test::scaled(200, 10)));
  std::sort(all.begin(), all.end());
  return all[2];
}

TEST(neighbours, that_are_busy_make_no_task_cost_more_than_half_again) {
  auto end = test::in_process(test::rough({{"WEFT_WORKERS", "2"}}), [] {
    neighbours four;
    cost_of_waves(10);
    const double alone = median_cost();
    four.release();
    const double beside = median_cost();
    EXPECT_LE(beside, 1.5 * alone + 0.02)
        << "CPU seconds, alone " << alone; // a plain loop on two threads: 1.0 times
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Promise: idle workers use no CPU.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <sys/resource.h>
#include <thread>

namespace {

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

TEST(idle_workers, use_less_than_a_twentieth_of_one_cpu) {
  auto end = test::in_process({{"WEFT_WORKERS", "8"}}, [] {
    for (int i = 0; i != 100; ++i)
      weft::spawn([] { weft::taskyield(); });
    weft::taskwait();
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // until they sleep
    double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    double used = cpu_seconds() - before;
    EXPECT_LT(used, 0.05); // of CPU time, not of the clock on the wall
    EXPECT_GT(weft::stats().slept, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(idle_workers, wake_up_for_work_after_a_long_sleep) {
  auto end = test::in_process({{"WEFT_WORKERS", "4"}, {"WEFT_SPIN_US", "0us"}}, [] {
    for (int round = 0; round != 200; ++round) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      std::atomic<int> ran{0};
      for (int i = 0; i != 4; ++i)
        weft::spawn([&] { ++ran; });
      weft::taskwait();
      ASSERT_EQ(ran, 4);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(idle_workers, a_program_that_only_waits_uses_no_cpu_either) {
  auto end = test::in_process({{"WEFT_WORKERS", "8"}}, [] {
    weft::spawn([] { weft::this_task::sleep_for(std::chrono::milliseconds(1200)); });
    double before = cpu_seconds();
    weft::taskwait();
    EXPECT_LT(cpu_seconds() - before, 0.1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

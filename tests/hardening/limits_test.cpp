// SPDX-License-Identifier: Apache-2.0
// Limits of the process: what cannot be had is said, and the program goes on with what there is.
#include "hardening/work.hpp"
#include "os/file.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using test::in_process;
using test::rough;
using test::works;

constexpr unsigned k_nobody = 65533; // an id that runs nothing else

void limit(int what, rlim_t value) {
  const rlimit r{value, value};
  ASSERT_EQ(setrlimit(static_cast<__rlimit_resource>(what), &r), 0);
}

TEST(limits, of_threads_leave_a_smaller_pool) {
  if (geteuid() != 0)
    GTEST_SKIP() << "RLIMIT_NPROC: counting the threads of a user that runs nothing else needs root";
  auto end = in_process(rough({{"WEFT_WORKERS", "8"}}), [] {
    limit(RLIMIT_NPROC, 4); // the main thread, two workers, the timer (the last may be missing)
    ASSERT_EQ(setuid(k_nobody), 0);
    std::atomic<int> x{0};
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { weft::taskyield(), ++x; });
    weft::taskwait();
    EXPECT_EQ(x, 100);
    EXPECT_EQ(test::leaves(8), 256);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.said("of 8 workers could be started")) << end;
}

TEST(limits, of_threads_that_allow_no_second_one_leave_one_worker) {
  if (geteuid() != 0)
    GTEST_SKIP() << "RLIMIT_NPROC: counting the threads of a user that runs nothing else needs root";
  auto end = in_process(rough({{"WEFT_WORKERS", "3"}}), [] {
    limit(RLIMIT_NPROC, 1);
    ASSERT_EQ(setuid(k_nobody), 0);
    std::atomic<int> x{0};
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { weft::taskyield(), ++x; });
    weft::taskwait();
    EXPECT_EQ(x, 100);
    EXPECT_EQ(test::leaves(8), 256);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.said("only 1 of 3 workers could be started")) << end;
}

/// The "VmSize:" of this process.
std::size_t address_space() {
  const std::string status = weft::rt::read_file("/proc/self/status").value_or("");
  const auto at = status.find("VmSize:");
  return at == std::string::npos ? 0 : std::stoul(status.substr(at + 7)) << 10;
}

TEST(limits, of_address_space_fail_the_tasks_that_find_no_stack) {
  if (test::k_sanitized)
    GTEST_SKIP() << "RLIMIT_AS: sanitizers reserve terabytes";
  auto end = in_process(rough({{"WEFT_WORKERS", "2"}}), [] {
    ASSERT_TRUE(works());
    constexpr int k_tasks = 3000; // of 96 KiB: 288 MiB
    limit(RLIMIT_AS, address_space() + (64u << 20));
    std::atomic<int> slept{0}, refused{0}, other{0};
    std::atomic<bool> open{false};
    for (int i = 0; i != k_tasks; ++i)
      weft::spawn([&] {
        try {
          weft::this_task::sleep_for(std::chrono::milliseconds(300));
          ++slept;
        } catch (const weft::error &e) {
          ++(e.code() == weft::errc::out_of_resources ? refused : other);
        }
      });
    weft::taskwait();
    EXPECT_EQ(slept + refused, k_tasks);
    EXPECT_GT(slept, 0);
    EXPECT_GT(refused, 0);
    EXPECT_EQ(other, 0);
    EXPECT_TRUE(works()) << "the stacks are there again";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

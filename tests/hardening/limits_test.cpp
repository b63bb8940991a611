// SPDX-License-Identifier: Apache-2.0
// Limits of the process: Weft reports what it cannot get, and the program continues with the rest.
#include "hardening/work.hpp"
#include "os/file.hpp"
#include "support/listener.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace {

using test::in_process;
using test::rough;
using test::works;

/// Returns the id of a user that runs nothing else, nor do other processes with these tests use it.
unsigned lone_user() { return 50'000 + static_cast<unsigned>(getpid()) % 10'000; }

void limit(int what, rlim_t value) {
  const rlimit r{value, value};
  ASSERT_EQ(setrlimit(static_cast<__rlimit_resource>(what), &r), 0);
}

TEST(limits, of_threads_leave_a_smaller_pool) {
  if (test::k_sanitized)
    GTEST_SKIP() << "RLIMIT_NPROC: sanitizers start threads of their own";
  if (geteuid() != 0)
    GTEST_SKIP()
        << "RLIMIT_NPROC: counting the threads of a user that runs nothing else needs root";
  auto end = in_process(rough({{"WEFT_WORKERS", "8"}}), [] {
    limit(RLIMIT_NPROC, 4); // the main thread, two workers, the timer (the last may be missing)
    ASSERT_EQ(setuid(lone_user()), 0);
    std::atomic<int> x{0};
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { weft::taskyield(), ++x; });
    weft::taskwait();
    EXPECT_EQ(x, 100);
    EXPECT_EQ(test::leaves(8), 256);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("of 8 workers could be started")) << end;
}

TEST(limits, of_threads_that_allow_no_second_one_leave_one_worker) {
  if (test::k_sanitized)
    GTEST_SKIP() << "RLIMIT_NPROC: sanitizers start threads of their own";
  if (geteuid() != 0)
    GTEST_SKIP()
        << "RLIMIT_NPROC: counting the threads of a user that runs nothing else needs root";
  auto end = in_process(rough({{"WEFT_WORKERS", "3"}}), [] {
    limit(RLIMIT_NPROC, 1);
    ASSERT_EQ(setuid(lone_user()), 0);
    std::atomic<int> x{0};
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { weft::taskyield(), ++x; });
    weft::taskwait();
    EXPECT_EQ(x, 100);
    EXPECT_EQ(test::leaves(8), 256);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("only 1 of 3 workers could be started")) << end;
}

TEST(limits, of_threads_that_leave_no_spare_make_tasks_wait_for_one_that_blocks) {
  if (test::k_sanitized)
    GTEST_SKIP() << "RLIMIT_NPROC: sanitizers start threads of their own";
  if (geteuid() != 0)
    GTEST_SKIP()
        << "RLIMIT_NPROC: counting the threads of a user that runs nothing else needs root";
  auto end = in_process(rough({{"WEFT_WORKERS", "1"}}), [] {
    weft::start();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const test::listener errors;
    std::thread writer([&] { // no worker
      EXPECT_TRUE(test::soon([&] { return errors.has_heard("no thread can be had to stand in"); }));
      EXPECT_EQ(write(ends[1], "x", 1), 1);
    });
    limit(RLIMIT_NPROC, 1);
    ASSERT_EQ(setuid(lone_user()), 0);
    std::atomic<int> ran{0};
    for (int i = 0; i != 20; ++i)
      weft::spawn([&] { ++ran; });
    char c;
    EXPECT_EQ(read(ends[0], &c, 1), 1); // the only worker there is
    weft::taskwait();
    EXPECT_EQ(ran, 20);
    writer.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("no thread can be had to stand in for a worker that is stuck")) << end;
}

/// The "VmSize:" of this process.
std::size_t address_space() {
  const std::string status = weft::rt::read_file("/proc/self/status").value_or("");
  const auto at = status.find("VmSize:");
  return at == std::string::npos ? 0 : std::stoul(status.substr(at + 7)) << 10;
}

/// So much memory is there for malloc, whatever the limit: the case is about stacks.
void keep_heap(std::size_t bytes) {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  void *volatile p = std::malloc(bytes);
  std::free(p);
}

struct refusals {
  std::atomic<int> number{0}, other{0};
  template <class F>
  void count(F f) {
    try {
      f();
    } catch (const weft::error &e) {
      ++(e.code() == weft::errc::out_of_resources ? number : other);
    }
  }
};

TEST(limits, of_address_space_fail_the_tasks_that_find_no_stack) {
  if (test::k_sanitized)
    GTEST_SKIP() << "RLIMIT_AS: sanitizers reserve terabytes";
  auto end = in_process(rough({{"WEFT_WORKERS", "2"}}), [] {
    ASSERT_TRUE(works());
    keep_heap(16 << 20);
    constexpr int k_tasks = 3000; // of 96 KiB: 288 MiB
    limit(RLIMIT_AS, address_space() + (64u << 20));
    std::atomic<int> asked{0}, waited{0};
    int spawned = 0;
    refusals refused;
    weft::mutex m;
    m.lock();
    for (int i = 0; i != k_tasks; ++i)
      refused.count([&] {
        weft::spawn([&] {
          ++asked;
          refused.count([&] {
            std::lock_guard guard(m); // on a stack of its own
            ++waited;
          });
        });
        ++spawned;
      });
    while (asked < spawned)
      refused.count([] { weft::taskyield(); });
    EXPECT_GT(refused.number, 0);
    EXPECT_EQ(refused.other, 0);
    m.unlock();
    weft::taskwait();
    EXPECT_GT(waited, 0);
    EXPECT_TRUE(works()) << "the stacks are there again";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

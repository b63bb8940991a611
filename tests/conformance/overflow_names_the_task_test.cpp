// SPDX-License-Identifier: Apache-2.0
// Promise: a stack overflow ends the program with a line that names the task, its stack size and the setting; any other
// segmentation fault is the program's own.
#include "support/case_process.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <csignal>
#include <cstdint>

namespace {

volatile int g_deepest = 1'000'000'000;

[[gnu::noinline]] int recurse(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth < g_deepest ? recurse(depth + 1) + frame[0] : 0;
}

bool ended_by_fault(const test::ending &end) {
  return test::k_sanitized || (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSEGV);
}

TEST(overflow, names_the_label_the_size_and_the_setting) {
  auto end = test::in_process({{"WEFT_STACK_BYTES", "64KiB"}}, [] {
    weft::spawn([] {
      weft::this_task::sleep_for(std::chrono::microseconds(1)); // off the thread's own stack
      weft::spawn([] { recurse(0); }, weft::label("deep recursion"));
      weft::taskwait();
    });
    while (true)
      weft::this_task::sleep_for(std::chrono::seconds(1));
  });
  EXPECT_TRUE(ended_by_fault(end)) << end;
  EXPECT_TRUE(end.printed("weft: stack overflow in task 'deep recursion' (task stack 0x")) << end;
  EXPECT_TRUE(end.printed(" 64 KiB, fault at 0x")) << end;
  EXPECT_TRUE(end.printed(
      "raise stack.bytes, for example WEFT_STACK_BYTES=128KiB, or give the task weft::stack_bytes"))
      << end;
}

TEST(overflow, of_a_task_without_label_names_where_it_was_spawned) {
  auto end = test::in_process({}, [] {
    weft::spawn(
        [] {
          weft::this_task::sleep_for(std::chrono::microseconds(1));
          weft::spawn([] { recurse(0); });
          weft::taskwait();
        },
        weft::label("outer"));
    while (true)
      weft::this_task::sleep_for(std::chrono::seconds(1));
  });
  EXPECT_TRUE(ended_by_fault(end)) << end;
  EXPECT_TRUE(end.printed("weft: stack overflow in task 'task', spawned as ")) << end;
  EXPECT_TRUE(end.printed("lambda")) << end;
  EXPECT_TRUE(end.printed("overflow_names_the_task_test.cpp") ||
              end.printed("of_a_task_without_label"))
      << "gcc names the function, clang "
         "the file: "
      << end;
  EXPECT_TRUE(end.printed("by task 'outer'")) << end;
}

TEST(overflow, of_a_task_with_a_stack_of_its_own_names_that_size) {
  auto end = test::in_process({}, [] {
    weft::spawn([] { recurse(0); }, weft::label("large"), weft::stack_bytes{256 << 10});
    weft::taskwait();
  });
  EXPECT_TRUE(ended_by_fault(end)) << end;
  EXPECT_TRUE(end.printed("task 'large' (task stack")) << end;
  EXPECT_TRUE(end.printed("256 KiB")) << end;
  EXPECT_TRUE(end.printed("raise the task's weft::stack_bytes, for example to 524288")) << end;
}

#if !defined(__SANITIZE_THREAD__) &&                                                               \
    !defined(__SANITIZE_ADDRESS__) // they report the thread's own stack themselves

TEST(overflow, of_a_task_that_its_creator_runs_in_place_names_the_threads_stack) {
  if (test::k_sanitized)
    GTEST_SKIP() << "a sanitizer has its own handler on the stacks of the system";
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", "stealing"}}, [] {
    weft::spawn([] { recurse(0); }, weft::label("in place"), weft::if_(false));
  });
  EXPECT_TRUE(ended_by_fault(end)) << end;
  EXPECT_TRUE(end.printed("task 'in place' (on its thread's own stack")) << end;
  EXPECT_TRUE(end.printed("ulimit -s")) << end;
}

#endif

TEST(overflow, another_fault_in_a_task_says_nothing_and_reaches_the_handler) {
  auto end = test::in_process({}, [] {
    struct sigaction mine{};
    mine.sa_flags = SA_SIGINFO;
    mine.sa_sigaction = [](int, siginfo_t *info, void *) {
      _exit(info->si_addr == reinterpret_cast<void *>(64) ? 42 : 1);
    };
    sigaction(SIGSEGV, &mine, nullptr);
    weft::spawn([] {
      std::uintptr_t address = 64;
      asm volatile("" : "+r"(address));
      *reinterpret_cast<volatile int *>(address) = 1;
    });
    while (true)
      weft::this_task::sleep_for(std::chrono::seconds(1));
  });
  EXPECT_TRUE(end.exited(42)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Promise: with stack.watermark a program says at its end how deep each label's tasks got; without, it says nothing.
#include "support/case_process.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <cstdio>
#include <string>

namespace {

[[gnu::noinline]] void use(std::size_t bytes) {
  auto *room = static_cast<volatile char *>(__builtin_alloca(bytes));
  for (std::size_t i = 0; i < bytes; i += 64)
    room[i] = 1;
}

void shallow_and_deep_tasks() {
  for (int i = 0; i != 20; ++i)
    weft::spawn([i] { use(static_cast<std::size_t>(i) * 1000); }, weft::label("growing"));
  weft::spawn(
      [] {
        use(2000);
        weft::this_task::sleep_for(std::chrono::microseconds(50)); // its stack is set aside
        use(50'000);
      },
      weft::label("sleeper"));
  weft::spawn([] { use(200'000); }, weft::label("large"), weft::stack_bytes{300'000});
  weft::spawn(
      [] {
        weft::spawn([] { use(30'000); }, weft::label("child"));
        weft::taskwait();
      },
      weft::label("parent"));
  weft::spawn([] {});
  weft::taskwait();
}

/// What the report gives for a label; -1: nothing.
long told(const test::ending &end, const std::string &label) {
  const std::string line = "weft: stack.watermark: task '" + label + "' used at most ";
  const auto at = end.output.find(line);
  return at == std::string::npos ? -1 : std::atol(end.output.c_str() + at + line.size());
}

void expect_about(long value, long used) {
  EXPECT_GE(value, used);
  EXPECT_LE(value, test::k_sanitized ? used * 4 + 60'000 : used + 8000); // functions around it
}

TEST(watermarks, are_told_for_each_label_at_exit) {
  auto end = test::in_process({{"WEFT_STACK_WATERMARK", "true"}}, shallow_and_deep_tasks);
  EXPECT_TRUE(end.exited(0)) << end;
  expect_about(told(end, "growing"), 19'000);
  expect_about(told(end, "sleeper"), 50'000);
  expect_about(told(end, "large"), 200'000);
  expect_about(told(end, "child"), 30'000);
  EXPECT_TRUE(end.printed("' used at most")) << end;
  EXPECT_TRUE(end.printed("in 20 runs")) << end;
  EXPECT_TRUE(end.printed("lambda")) << "the task without label is named by its place: " << end;
}

TEST(watermarks, are_not_told_without_the_setting) {
  auto end = test::in_process({}, shallow_and_deep_tasks);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(watermarks, are_told_when_a_task_ends_the_program) {
  auto end = test::in_process({{"WEFT_STACK_WATERMARK", "true"},
                               {"TSAN_OPTIONS", "report_thread_leaks=0"},
                               {"ASAN_OPTIONS", "detect_leaks=0"}},
                              [] {
                                weft::spawn([] { use(10'000); }, weft::label("first"));
                                weft::taskwait();
                                weft::spawn([] { std::exit(0); });
                                weft::taskwait();
                              });
  EXPECT_TRUE(end.exited(0)) << end;
  expect_about(told(end, "first"), 10'000);
}

} // namespace

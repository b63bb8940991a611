// SPDX-License-Identifier: Apache-2.0
// weft top tells a worker whose task sleeps in the kernel from one that computes and one that is idle.
#include "observe/segment.hpp"
#include "support/case_process.hpp"

#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.hpp>

namespace {

std::string weft_program() {
  const auto program = test::program_path();
  const auto tests = program.substr(0, program.rfind('/'));
  return tests.substr(0, tests.rfind('/')) + "/bin/weft";
}

/// One of its two tasks blocks its thread, the other computes; the first thread is outside of Weft.
[[noreturn]] void block_and_compute(int ready, int never) {
  setenv("WEFT_WORKERS", "4", 1);
  static std::atomic<int> begun{0};
  weft::spawn([never] {
    char c;
    ++begun;
    _exit(read(never, &c, 1) == 1);
  });
  weft::spawn([] {
    ++begun;
    for (;;)
      asm volatile("");
  });
  while (begun != 2)
    usleep(1000);
  if (write(ready, "x", 1) != 1)
    _exit(1);
  for (;;)
    pause();
}

TEST(top, says_whose_task_sleeps_in_the_kernel) {
  if (access(weft_program().c_str(), X_OK) != 0)
    GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
  int ready[2], never[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(never), 0);
  const pid_t child = fork();
  if (child == 0)
    block_and_compute(ready[1], never[0]);
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  const auto count = [](const std::string &text, const std::string &part) {
    int n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  };
  const auto look = [&] {
    return test::run(
        {weft_program(), "top", "--once", "--json", "--every", "20ms", std::to_string(child)},
        {{"WEFT_CONFIG", ""}});
  };
  test::ending end = look();
  for (int i = 0; i != 300 && !(count(end.output, "\"state\":\"blocked\"") == 1 &&
                                count(end.output, "\"state\":\"idle\"") == 1);
       ++i)
    end =
        look(); // the task has still to reach its sleep, and the third worker to give up its search
  end = look();
  EXPECT_EQ(count(end.output, "\"state\":\"blocked\""), 1) << end;
  EXPECT_EQ(count(end.output, "\"state\":\"busy\""), 1) << end;
  EXPECT_EQ(count(end.output, "\"state\":\"idle\""), 1) << end;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  unlink(weft::rt::segment_path(child).c_str());
}

} // namespace

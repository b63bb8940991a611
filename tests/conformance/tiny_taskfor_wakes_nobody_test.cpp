// SPDX-License-Identifier: Apache-2.0
// Promise: the worker that runs the task of a taskfor of one chunk runs the chunk, and wakes no
// worker.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

/// As the kernel sees it: a worker on its way to sleep still runs.
bool all_other_threads_sleep() {
  for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(gettid()))
      continue;
    std::ifstream file(thread.path() / "stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(')'); // "tid (name) state ..."
    if (name_end == std::string::npos || text.compare(name_end, 3, ") S") != 0)
      return false;
  }
  return true;
}

TEST(taskfor, wakes_nobody_for_one_chunk) {
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "4"}, {"WEFT_SCHED_POLICY", "stealing"}, {"WEFT_WATCH_HANG", "off"}}, [] {
        weft::start();
        weft::spawn([] {
          while (weft::stats().slept < 3 || !all_other_threads_sleep())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          const auto before = weft::stats();
          // In place, so that the spawn wakes no worker either.
          for (int n = 0; n != 100; ++n)
            weft::taskfor(weft::range(3), [](int) {}, weft::grain_size(3), weft::if_(false));
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          EXPECT_EQ(weft::stats().slept, before.slept) << "who is woken for nothing sleeps again";
          EXPECT_EQ(weft::stats().stolen, before.stolen);
        });
        weft::taskwait();
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

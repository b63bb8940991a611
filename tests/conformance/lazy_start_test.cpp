// SPDX-License-Identifier: Apache-2.0
// Promise: a program that links Weft and does not use it starts no thread and changes nothing.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <filesystem>

namespace {

int threads() {
  int n = 0;
  for (auto &entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++n;
  }
  return n;
}

TEST(runtime, starts_no_thread_before_the_first_use) {
  auto end = test::in_process({{"WEFT_WORKERS", "4"}}, [] {
    int before = threads();
    weft::mutex m; // needs no runtime
    m.lock();
    m.unlock();
    weft::configure("spin.us", "5us");
    weft::access a = weft::inout(before);
    EXPECT_NE(a.address, nullptr);
    EXPECT_EQ(threads(), before);
    weft::spawn([] {});
    weft::taskwait();
    EXPECT_GE(threads(), before + 3);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// What the watcher uses itself while no worker is stuck: thread CPU time, which a busy machine does
// not change.
#include "support/case_process.hpp"
#include "support/scale.hpp"
#include "worker/runtime.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace weft::rt;
using clock_type = std::chrono::steady_clock;

constexpr auto k_sleep = std::chrono::seconds(3);

/// Its allowance (1 ms, once), and a thousandth of the time.
void expect_little(clock_type::time_point begin) {
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock_type::now() - begin).count();
  EXPECT_GT(the_runtime().watch.looks(), 0u);
  EXPECT_LE(the_runtime().watch.cpu_ns(), 1'000'000u + static_cast<std::uint64_t>(elapsed) / 1000);
}

const std::atomic<bool> *g_enough;

void go_on_for_ever() { // a task that follows itself: there is always one that waits
  for (volatile int k = 0; k != 1000;)
    k = k + 1;
  if (!g_enough->load(std::memory_order_relaxed))
    weft::spawn(&go_on_for_ever);
}

TEST(watcher_share, is_below_a_thousandth_beside_queues_that_are_never_empty) {
  if (test::k_emulated || test::k_sanitized)
    GTEST_SKIP() << "thread CPU time: the emulator's or the sanitizer's own is in it";
  auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "1s"}}, [] {
    std::atomic<bool> enough{false};
    g_enough = &enough;
    weft::start();
    const auto begin = clock_type::now();
    for (int i = 0; i != 64; ++i)
      weft::spawn(&go_on_for_ever);
    weft::spawn([&] {
      weft::this_task::sleep_for(k_sleep);
      enough = true;
    });
    weft::taskwait();
    expect_little(begin);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(watcher_share, is_below_a_thousandth_while_nothing_runs) {
  if (test::k_emulated || test::k_sanitized)
    GTEST_SKIP() << "thread CPU time: the emulator's or the sanitizer's own is in it";
  auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "1s"}}, [] {
    weft::start();
    const auto begin = clock_type::now();
    weft::spawn([] {});
    weft::taskwait();
    std::this_thread::sleep_for(k_sleep);
    expect_little(begin);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

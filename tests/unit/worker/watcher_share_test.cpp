// SPDX-License-Identifier: Apache-2.0
// What the watcher uses itself while no worker is stuck: thread CPU time.
#include "support/case_process.hpp"
#include "support/scale.hpp"
#include "worker/runtime.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

namespace {

using namespace weft::rt;
using clock_type = std::chrono::steady_clock;

constexpr auto k_sleep = std::chrono::seconds(3);

std::uint64_t ns_since(clock_type::time_point begin) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock_type::now() - begin).count());
}

/// Its allowance (1 ms, once), and a `fraction` of the time.
void expect_little(clock_type::time_point begin, std::uint64_t fraction) {
  EXPECT_GT(the_runtime().watch.looks(), 0u);
  EXPECT_LE(the_runtime().watch.cpu_ns(), 1'000'000u + ns_since(begin) / fraction);
}

/// Says whether two workers that computed from `begin` on had less than nine tenths of two
/// processors: the watcher then looks more often for what the neighbours hold up, beyond its share.
bool are_held_up(clock_type::time_point begin) {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const auto used_ns = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u +
                       static_cast<std::uint64_t>(used.tv_nsec);
  return 10 * used_ns < 9 * 2 * ns_since(begin);
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
    expect_little(begin, are_held_up(begin) ? 200 : 1000);
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
    expect_little(begin, 1000);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

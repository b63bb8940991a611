// SPDX-License-Identifier: Apache-2.0
// What mode `auto` does, far more often: messages are sent and not sent while programs run.
#include "managers/managers.hpp"
#include "managers/mode_chooser.hpp"
#include "support/case_process.hpp"
#include "tune/decisions.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

long work(long cell, int i) { return cell * 3 % 1000003 + i; }

/// Chains over some cells, by several parents, that read their neighbour's cell.
void program(int parents, int length) {
  std::atomic<int> wrong{0};
  for (int p = 0; p != parents; ++p)
    weft::spawn([&wrong, length] {
      long cell[3] = {}, expected[3] = {};
      for (int i = 0; i != length; ++i) {
        long &c = cell[i % 3];
        const long &before = cell[(i + 2) % 3];
        weft::spawn([&c, &before, i] { c = work(c + before, i); }, weft::inout(c),
                    weft::in(before));
        expected[i % 3] = work(expected[i % 3] + expected[(i + 2) % 3], i);
        if (i % 97 == 0)
          weft::taskwait();
      }
      weft::taskwait();
      wrong += cell[0] != expected[0] || cell[1] != expected[1] || cell[2] != expected[2];
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

void switch_while_running(const char *policy) {
  auto end = test::in_process(
      {{"WEFT_MANAGE_MODE", "distributed"}, {"WEFT_WORKERS", "3"}, {"WEFT_SCHED_POLICY", policy}},
      [] {
        weft::start();
        std::atomic<bool> over{false};
        std::atomic<int> switches{0};
        std::thread controller([&] {
          for (bool on = false; !over; on = !on) {
            managers::send_messages(on);
            ++switches;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
          }
        });
        int rounds = 0;
        for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
             std::chrono::steady_clock::now() < until || switches < 10; ++rounds)
          program(6, 500);
        over = true;
        controller.join();
        EXPECT_GT(rounds, 0);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(switching_modes, keeps_the_order_of_tasks_under_stealing) { switch_while_running("stealing"); }
TEST(switching_modes, keeps_the_order_of_tasks_under_local_fifo) {
  switch_while_running("local-fifo");
}

/// Ends windows in which so many tasks began in a millisecond in each mode, until `wanted` is kept.
void run_until(mode_chooser &chooser, mode_chooser::mode wanted, double direct,
               double distributed) {
  for (int windows = 0; windows < 100'000 && chooser.kept() != wanted; ++windows) {
    const std::uint64_t ns = chooser.window_ns();
    const double rate = chooser.now() == mode_chooser::mode::direct ? direct : distributed;
    managers::end_window(chooser, static_cast<std::uint64_t>(rate * static_cast<double>(ns) / 1e6),
                         ns);
  }
  EXPECT_EQ(chooser.kept(), wanted);
}

TEST(switching_modes, each_change_of_the_better_mode_is_a_decision) {
  const auto end =
      test::in_process({{"WEFT_MANAGE_MODE", "distributed"}, {"WEFT_WORKERS", "2"}}, [] {
        weft::start();
        mode_chooser chooser;
        const auto before = totals_of_tuner().decisions;
        for (int i = 0; i < 100; ++i) // trials that lose are none
          managers::end_window(chooser, 500 * chooser.window_ns() / 1'000'000,
                               chooser.window_ns());
        EXPECT_EQ(totals_of_tuner().decisions, before);
        run_until(chooser, mode_chooser::mode::distributed, 500, 600);
        run_until(chooser, mode_chooser::mode::direct, 600, 500);
        EXPECT_EQ(totals_of_tuner().decisions, before + 2);
        EXPECT_EQ(newest_decisions(),
                  (std::vector<std::string>{
                      "manage.mode: distributed: more tasks began per second than with direct",
                      "manage.mode: direct: as many tasks began per second as with distributed"}));
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

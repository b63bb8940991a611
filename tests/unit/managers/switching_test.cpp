// SPDX-License-Identifier: Apache-2.0
// What mode `auto` does, far more often: messages are sent and not sent while programs run.
#include "managers/managers.hpp"
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
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

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Promise: what runs on an OS thread's own stack is resumed by that thread only.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

/// Every way to wait; the number of times that another thread came back.
int moves() {
  int moved = 0;
  auto me = std::this_thread::get_id();
  auto check = [&] { moved += std::this_thread::get_id() != me; };
  weft::mutex m;
  int x = 0;
  for (int i = 0; i != 20; ++i) {
    weft::spawn([&] { m.lock(), test::dawdle(), m.unlock(); });
    weft::spawn([&] { test::dawdle(), ++x; }, weft::inout(x));
    weft::taskyield(), check();
    m.lock(), check();
    m.unlock();
    weft::taskwait(weft::in(x)), check();
    weft::this_task::sleep_for(std::chrono::microseconds(20)), check();
    (void)weft::this_task::block_for(std::chrono::microseconds(20)), check();
    weft::spawn([ref = weft::this_task::self()] { weft::unblock(ref); });
    weft::this_task::block(), check();
    (void)weft::spawn([] {
      test::dawdle();
      return 1;
    }).get(),
        check();
    weft::spawn([] { test::dawdle(); }, weft::if_(false)), check();
    weft::join([] { test::dawdle(); }, [] { test::dawdle(); }), check();
    weft::task_group group;
    group.spawn([] { test::dawdle(); });
    group.wait(), check();
    weft::taskwait(), check();
  }
  return moved;
}

TEST(thread, of_the_user_is_not_left_by_its_code) {
  EXPECT_EQ(moves(), 0);
  std::atomic<int> moved{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t)
    threads.emplace_back([&] { moved += moves(); });
  moved += moves();
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(moved, 0);
}

} // namespace

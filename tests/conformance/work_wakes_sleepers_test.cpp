// SPDX-License-Identifier: Apache-2.0
// Promise: no worker sleeps while there is work for it, and none is woken for nothing.
#include "support/case_process.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

/// Bodies that end only when all of them run at once, however few cpus there are.
class meeting {
 public:
  explicit meeting(int n) : m_missing(n) {}
  void attend() {
    --m_missing;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (m_missing > 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    if (m_missing > 0)
      m_failed = true;
  }
  [[nodiscard]] bool took_place() const { return !m_failed && m_missing == 0; }

 private:
  std::atomic<int> m_missing;
  std::atomic<bool> m_failed{false};
};

class sleeping_workers : public testing::TestWithParam<std::pair<const char *, const char *>> {};

TEST_P(sleeping_workers, are_all_woken_by_a_burst_of_work) {
  const test::environment settings{{"WEFT_WORKERS", "8"},
                                   {"WEFT_SCHED_POLICY", GetParam().first},
                                   {"WEFT_SPIN_US", GetParam().second}};
  const test::ending end = test::in_process(settings, [] {
    for (int round = 0; round < test::scaled(100, 10); ++round) {
      if (round % 4 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // until they sleep
      meeting all(8);
      for (int i = 0; i < 8; ++i)
        weft::spawn([&all] { all.attend(); });
      weft::taskwait();
      ASSERT_TRUE(all.took_place()) << "round " << round;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(sleeping_workers, are_all_woken_by_a_task_that_spawns_and_does_not_return) {
  const test::environment settings{{"WEFT_WORKERS", "8"},
                                   {"WEFT_SCHED_POLICY", GetParam().first},
                                   {"WEFT_SPIN_US", GetParam().second}};
  const test::ending end = test::in_process(settings, [] {
    for (int round = 0; round < test::scaled(100, 10); ++round) {
      meeting all(8);
      weft::spawn([&all] {
        for (int i = 0; i < 7; ++i)
          weft::spawn([&all] { all.attend(); });
        all.attend();
      });
      weft::taskwait();
      ASSERT_TRUE(all.took_place()) << "round " << round;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Nests joins, whose second branches attend; the first branch of the innermost one begins with `leaf`.
template <class Leaf>
void nest(meeting &all, int branches, Leaf leaf) {
  if (branches == 0) {
    leaf();
    return all.attend();
  }
  weft::join([&] { nest(all, branches - 1, leaf); }, [&] { all.attend(); });
}

TEST_P(sleeping_workers, are_all_woken_by_branches_behind_a_long_one) {
  const test::environment settings{{"WEFT_WORKERS", "8"},
                                   {"WEFT_SCHED_POLICY", GetParam().first},
                                   {"WEFT_SPIN_US", GetParam().second}};
  const test::ending end = test::in_process(settings, [] {
    for (int round = 0; round < test::scaled(100, 10); ++round) {
      if (round % 4 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // until they sleep
      meeting all(8);
      nest(all, 7, [] {});
      ASSERT_TRUE(all.took_place()) << "round " << round;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Branches that come while all workers are busy are found when these are not, though their owner is.
TEST_P(sleeping_workers, find_branches_that_came_while_all_were_busy) {
  const test::environment settings{{"WEFT_WORKERS", "8"},
                                   {"WEFT_SCHED_POLICY", GetParam().first},
                                   {"WEFT_SPIN_US", GetParam().second}};
  const test::ending end = test::in_process(settings, [] {
    for (int round = 0; round < test::scaled(50, 5); ++round) {
      std::atomic<int> busy{0};
      std::atomic<bool> nested{false};
      for (int i = 0; i < 7; ++i)
        weft::spawn([&] {
          ++busy;
          while (!nested)
            std::this_thread::yield();
        });
      while (busy < 7)
        std::this_thread::yield();
      meeting all(8);
      nest(all, 7, [&] { nested = true; });
      ASSERT_TRUE(all.took_place()) << "round " << round;
      weft::taskwait();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

INSTANTIATE_TEST_SUITE_P(, sleeping_workers,
                         testing::Values(std::pair{"stealing", "20us"},
                                         std::pair{"stealing", "0us"},
                                         std::pair{"delegated", "20us"},
                                         std::pair{"local-fifo", "20us"},
                                         std::pair{"central", "0us"}));

TEST(sleeping_worker, is_woken_for_each_task_but_not_with_all_others) {
  const test::ending end = test::in_process({{"WEFT_WORKERS", "8"}}, [] {
    weft::start();
    const auto all_asleep = [] { // seven that slept once more than they were woken
      std::uint64_t last = ~std::uint64_t{0};
      for (int same = 0; same < 3;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const std::uint64_t now = weft::stats().slept;
        same = now == last ? same + 1 : 0;
        last = now;
      }
      return last;
    };
    const std::uint64_t before = all_asleep();
    constexpr int tasks = 20;
    for (int i = 0; i < tasks; ++i) {
      weft::task_group group;
      group.spawn([] {});
      all_asleep();
      group.wait();
    }
    // Each task wakes one worker, which relays its search to one more: two at most go to sleep again, and seldom one
    // of them wakes the third. All of them would be seven.
    EXPECT_LE(all_asleep() - before, 4u * tasks);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

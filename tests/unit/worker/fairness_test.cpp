// SPDX-License-Identifier: Apache-2.0
// Work that is in no worker's own queue does not starve, however busy the worker is with its own.
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <thread>

namespace {

constexpr int k_yields = 10;
constexpr long k_between =
    200; // tasks of its own that a worker runs at most before it looks at what all share: 61, and some
constexpr long k_starved = 100'000; // where the test gives up

const test::environment k_one_worker = {
    {"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", "stealing"}, {"WEFT_WATCH_MAX_SPARES", "0"}};

/// Each task leaves another one: the queue of their worker is never empty.
struct flood {
  std::atomic<bool> stop{false};
  std::atomic<long> ran{0}, least_to_run{k_starved};
  void step() {
    if (stop || ++ran > least_to_run)
      return;
    weft::spawn([this] { step(); });
  }
  void begin() {
    for (int i = 0; i != 3; ++i)
      weft::spawn([this] { step(); });
  }
};

TEST(fairness, a_task_that_yields_goes_on_beside_a_queue_that_is_never_empty) {
  auto end = test::in_process(k_one_worker, [] {
    flood f;
    test::gate begun;
    weft::spawn([&] {
      begun.open();
      for (int i = 0; i != k_yields; ++i)
        weft::taskyield();
      f.stop = true;
    });
    EXPECT_TRUE(begun.pass());
    f.begin();
    weft::taskwait();
    EXPECT_LE(f.ran, k_yields * k_between);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fairness, a_task_that_yields_goes_on_beside_rounds_that_follow_each_other) {
  auto end = test::in_process(k_one_worker, [] {
    long x = 0;
    std::atomic<long> ran{0}, seen{k_starved};
    test::gate begun;
    weft::spawn([&] {
      begun.open();
      for (int i = 0; i != k_yields; ++i)
        weft::taskyield();
      seen = ran.load();
    });
    EXPECT_TRUE(begun.pass());
    weft::taskiter(k_starved, [&] { weft::spawn([&] { ++ran; }, weft::inout(x)); });
    weft::taskwait();
    EXPECT_LE(seen, k_yields * k_between);
    EXPECT_EQ(ran, k_starved);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fairness, what_another_thread_makes_ready_goes_on_beside_a_queue_that_is_never_empty) {
  auto end = test::in_process(k_one_worker, [] {
    flood f;
    f.least_to_run = INT64_MAX;
    weft::task_ref blocked;
    test::gate known;
    weft::spawn([&] {
      blocked = weft::this_task::self();
      known.open();
      weft::this_task::block();
      f.stop = true;
    });
    EXPECT_TRUE(known.pass());
    std::thread other([&] {
      while (f.ran < 1000)
        std::this_thread::yield();
      weft::unblock(blocked);
      f.least_to_run = f.ran + k_starved;
    });
    f.begin();
    weft::taskwait();
    other.join();
    EXPECT_LT(f.ran, f.least_to_run);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

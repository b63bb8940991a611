// SPDX-License-Identifier: Apache-2.0
// Tasks that block or occupy their thread do not stop the others, under every policy.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/listener.hpp"
#include "support/policies.hpp"
#include "support/soon.hpp"
#include "worker/runtime.hpp"

#include <weft/weft.hpp>

#include <chrono>
#include <fcntl.h>
#include <semaphore>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace weft::rt;
using test::k_policies;
using test::soon;

struct pipe_ends {
  int ends[2];
  pipe_ends() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  ~pipe_ends() { close(ends[0]), close(ends[1]); }
  pipe_ends(const pipe_ends &) = delete;
  pipe_ends &operator=(const pipe_ends &) = delete;
  void read_one() {
    char c;
    EXPECT_EQ(read(ends[0], &c, 1), 1);
  }
  void write_one() { EXPECT_EQ(write(ends[1], "x", 1), 1); }
};

/// 100 tasks that read from a pipe, and only then the tasks that write.
void readers_before_writers() {
  constexpr int n = 100;
  std::vector<pipe_ends> pipes(n);
  std::atomic<int> read{0};
  for (auto &p : pipes)
    weft::spawn([&] { p.read_one(), ++read; });
  for (auto &p : pipes)
    weft::spawn([&] { p.write_one(); });
  weft::taskwait();
  EXPECT_EQ(read, n);
}

TEST(spares, a_hundred_tasks_that_block_on_pipes_which_other_tasks_write_end) {
  if (test::is_child()) {
    readers_before_writers();
    EXPECT_TRUE(soon([] { return the_runtime().spare_threads.spares() == 0; }));
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  for (const char *policy : k_policies) {
    auto end =
        test::run({test::program_path(), "--gtest_filter=spares.a_hundred_tasks*"},
                  {{"TEST_CHILD", "1"}, {"WEFT_WORKERS", "2"}, {"WEFT_SCHED_POLICY", policy}});
    EXPECT_TRUE(end.exited(0)) << policy << ": " << end;
  }
}

TEST(spares, a_chain_of_pipes_through_the_main_task_ends_with_one_worker) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    pipe_ends to, from;
    weft::spawn([&] { to.read_one(), from.write_one(); });
    weft::spawn([&] { to.write_one(); });
    from.read_one(); // the main task blocks the only worker there is
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// The newest child runs first, while its parent waits on the thread's own stack; then the other one takes that thread.
TEST(spares, a_child_that_has_waited_goes_on_while_another_blocks_the_first_thread) {
  for (const char *policy : k_policies) {
    auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", policy}}, [] {
      pipe_ends p;
      weft::spawn([&] { p.read_one(); });
      weft::spawn([&] {
        weft::this_task::sleep_for(std::chrono::milliseconds(1));
        p.write_one();
      });
      weft::taskwait();
    });
    EXPECT_TRUE(end.exited(0)) << policy << ": " << end;
  }
}

TEST(spares, a_task_that_spins_ends_for_what_waits_behind_it) {
  if (test::is_child()) {
    std::atomic<bool> flag{false};
    weft::spawn([&] {
      weft::spawn([&] { flag = true; });
      while (!flag.load(std::memory_order_relaxed)) {
      }
    });
    weft::taskwait();
    EXPECT_TRUE(soon([] { return the_runtime().spare_threads.spares() == 0; }));
    EXPECT_LE(the_runtime().spare_threads.started(), 1u); // one spare in all for those that compute
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  for (const char *policy : k_policies) {
    auto end =
        test::run({test::program_path(), "--gtest_filter=spares.a_task_that_spins*"},
                  {{"TEST_CHILD", "1"}, {"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", policy}});
    EXPECT_TRUE(end.exited(0)) << policy << ": " << end;
  }
}

TEST(spares, run_what_has_a_negative_priority) {
  for (const char *policy : k_policies) {
    auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", policy}}, [] {
      pipe_ends p;
      weft::spawn([&] { p.write_one(); }, weft::priority(-1));
      p.read_one(); // the main task blocks the only worker
      weft::taskwait();
    });
    EXPECT_TRUE(end.exited(0)) << policy << ": " << end;
  }
}

TEST(spares, a_join_branch_is_work_that_waits) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    pipe_ends p;
    weft::join([&] { p.read_one(); }, [&] { p.write_one(); });
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(spares, are_reused) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    for (int round = 0; round != 10; ++round) {
      std::vector<pipe_ends> pipes(4);
      std::atomic<int> reading{0};
      for (auto &p : pipes)
        weft::spawn([&] { ++reading, p.read_one(); });
      EXPECT_TRUE(soon([&] { return reading == 4; }));
      for (auto &p : pipes)
        p.write_one();
      weft::taskwait();
    }
    EXPECT_GE(the_runtime().spare_threads.started(), 3u);
    EXPECT_LE(the_runtime().spare_threads.started(), 10u);
    EXPECT_TRUE(soon([] { return the_runtime().spare_threads.spares() == 0; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Those that have ever been started.
template <class F>
void for_each_spare(F f) {
  for (unsigned i = 0; i != the_runtime().used_slots.load(); ++i)
    if (worker *w = the_runtime().slots[i].load(); w && w->stand_in)
      f(*w->stand_in);
}

TEST(spares, that_are_retired_while_they_work_park_afterwards) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", "stealing"}}, [] {
    pipe_ends p;
    weft::spawn([&] { // on the spare: it is not needed any more while this runs
      p.write_one();
      EXPECT_TRUE(soon([] { return the_runtime().spare_threads.spares() == 0; }));
    });
    weft::spawn([&] { p.read_one(); }); // the newest goes first
    weft::taskwait();
    int spares = 0;
    for_each_spare([&](spare &s) {
      ++spares;
      EXPECT_TRUE(soon([&] { return s.is->seat.is() == spare_seat<>::parked; }));
    });
    EXPECT_EQ(spares, 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(spares, that_are_not_needed_for_long_end_and_are_started_anew) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_SPARE_IDLE", "20ms"}}, [] {
    for (unsigned round = 1; round != 4; ++round) {
      pipe_ends p;
      weft::spawn([&] { p.write_one(); });
      p.read_one(); // the main task blocks the only worker
      weft::taskwait();
      int spares = 0;
      for_each_spare([&](spare &s) {
        ++spares;
        EXPECT_TRUE(
            soon([&] { return s.is->seat.is() == spare_seat<>::gone && s.is->tid.load() == 0; }));
      });
      EXPECT_EQ(spares, 1);
      EXPECT_EQ(the_runtime().spare_threads.started(), round);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(
    spares,
    are_workers_like_any_other) { // what runs on them may wait, throw, spawn, and be continued elsewhere
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    pipe_ends p;
    std::atomic<int> ran{0};
    int x = 0;
    weft::spawn([&] { p.read_one(); });
    for (int i = 0; i != 50; ++i)
      weft::spawn([&] { ++x, weft::taskyield(), weft::spawn([&] { ++ran; }), weft::taskwait(); },
                  weft::inout(x));
    auto failing = weft::spawn([]() -> int { throw 7; });
    weft::spawn([&] { p.write_one(); }, weft::in(x));
    p.read_one(); // the writer writes once: for the task or for us
    p.write_one();
    weft::taskwait();
    EXPECT_EQ(x, 50);
    EXPECT_EQ(ran, 50);
    EXPECT_THROW(failing.get(), int);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(spares, are_not_more_than_the_setting_says_and_a_report_names_it_once) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "2"}}, [] {
    std::vector<pipe_ends> pipes(6);
    std::atomic<int> reading{0};
    const test::listener errors;
    for (auto &p : pipes)
      weft::spawn([&] { ++reading, p.read_one(); });
    EXPECT_TRUE(soon([&] { return reading == 2; })); // the main task keeps the worker: two spares
    EXPECT_TRUE(soon([&] { return errors.has_heard("watch.max_spares"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // a second report, a third spare
    EXPECT_EQ(reading, 2);
    for (auto &p : pipes)
      p.write_one();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto first = end.output.find("watch.max_spares");
  EXPECT_NE(first, std::string::npos) << end;
  EXPECT_EQ(end.output.find("watch.max_spares", first + 1), std::string::npos) << end;
}

TEST(spares, are_off_with_none_allowed) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    std::atomic<bool> ran{false};
    weft::spawn([&] { ran = true; });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_FALSE(ran);
    EXPECT_EQ(the_runtime().spare_threads.started(), 0u);
    weft::taskwait();
    EXPECT_TRUE(ran);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(spares, stand_in_again_and_again_while_the_program_ends) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    static std::atomic<bool> begun{false};
    static std::atomic<int> ran{0};
    static std::binary_semaphore goes_on{0};
    std::thread([] {
      weft::spawn([] {
        begun = true;
        EXPECT_TRUE(soon([] { return the_runtime().stopping.load(); }));
        for (int i = 0; i != 3; ++i) {
          weft::spawn([] {
            ++ran;
            goes_on.release();
          });
          goes_on.acquire(); // blocks the thread
          EXPECT_TRUE(soon([] { return the_runtime().spare_threads.spares() == 0; }));
        }
      });
      for (;;) // the thread waits for nothing, so it runs no task
        pause();
    }).detach();
    EXPECT_TRUE(soon([] { return begun.load(); }));
    weft::shutdown(); // waits for the worker
    EXPECT_EQ(ran, 3);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(watcher, is_asleep_while_nothing_runs) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "60s"}}, [] {
    weft::spawn([] {});
    weft::taskwait();
    bool rests = false; // when all workers do, which may take them a while
    for (int i = 0; i != 50 && !rests; ++i) {
      const auto before = the_runtime().watch.looks();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      rests = before != 0 && the_runtime().watch.looks() <= before + 1;
    }
    EXPECT_TRUE(rests);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(watcher, looks_at_most_a_hundred_times_a_second_while_nobody_is_stuck) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    using clock = std::chrono::steady_clock;
    weft::start();
    const auto begin = clock::now();
    const auto looks = the_runtime().watch.looks();
    while (clock::now() - begin < std::chrono::milliseconds(1000)) {
      for (int i = 0; i != 200; ++i)
        weft::spawn([] {
          for (volatile int k = 0; k != 2000;)
            k = k + 1;
        });
      weft::taskwait();
    }
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin).count();
    EXPECT_LE(the_runtime().watch.looks() - looks, 20u + 2u * static_cast<unsigned>(elapsed) / 10u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

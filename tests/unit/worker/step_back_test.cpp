// SPDX-License-Identifier: Apache-2.0
// Workers step back while threads of other pools compute, and come back.
#include "support/case_process.hpp"
#include "support/soon.hpp"
#include "worker/runtime.hpp"

#include <weft/layer/pool_thread.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;
using test::soon;

/// A pool of pool threads that compute until wait(), then wait until compute() or the end.
class stand_in_pool {
 public:
  explicit stand_in_pool(int count) {
    for (int i = 0; i < count; ++i)
      m_threads.emplace_back([this] { run(); });
  }
  ~stand_in_pool() {
    m_ends = true;
    compute();
    for (auto &t : m_threads)
      t.join();
  }
  void wait() { set(1); }
  void compute() { set(0); }

 private:
  void set(std::uint32_t waits) {
    m_waits = waits;
    m_waits.notify_all();
  }
  void run() {
    auto *const other = new weft::layer::pool_thread; // never freed, as the header asks
    other->tid = static_cast<int>(syscall(SYS_gettid));
    weft::layer::add_pool_thread(*other);
    while (!m_ends) {
      if (m_waits == 0)
        continue;
      weft::layer::pool_thread_waits(*other);
      if (!m_ends)
        m_waits.wait(1);
      weft::layer::pool_thread_runs(*other);
    }
    other->tid = 0;
  }

  std::atomic<bool> m_ends{false};
  std::atomic<std::uint32_t> m_waits{0};
  std::vector<std::thread> m_threads;
};

unsigned away() { return the_runtime().room.stepped_back(); }

/// Returns how many of `count` tasks were at work at once.
int at_once(int count) {
  std::atomic<int> now{0}, most{0};
  for (int i = 0; i < count; ++i)
    weft::spawn([&] {
      const int n = ++now;
      for (int seen = most; seen < n && !most.compare_exchange_weak(seen, n);) {
      }
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
      while (std::chrono::steady_clock::now() < until) {
      }
      --now;
    });
  weft::taskwait();
  return most;
}

/// Returns whether two tasks can be at work at once: each waits for the other.
void meet() {
  std::atomic<int> there{0};
  for (int i = 0; i < 2; ++i)
    weft::spawn([&] {
      ++there;
      while (there != 2)
        sched_yield();
    });
  weft::taskwait();
}

const test::environment k_two{{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "0"}};

TEST(step_back, a_worker_parks_while_pool_threads_compute_and_comes_back_when_they_wait) {
  auto end = test::in_process(k_two, [] {
    weft::spawn([] {});
    weft::taskwait();
    stand_in_pool pool(static_cast<int>(std::thread::hardware_concurrency()));
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(soon([] { return away() == 1; }));
      const worker &w = *the_runtime().slots[1].load();
      EXPECT_TRUE(soon([&] { return w.seat.is() == spare_seat<>::parked; }));
      EXPECT_EQ(at_once(200), 1);
      pool.wait();
      EXPECT_TRUE(soon([] { return away() == 0; }));
      meet();
      pool.compute();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(step_back, tasks_of_a_worker_that_steps_back_are_stolen) {
  auto end = test::in_process(k_two, [] {
    std::atomic<bool> may_end{false};
    std::atomic<int> ran{0};
    weft::spawn([&] { // its children are in the queue of its worker
      for (int i = 0; i < 1000; ++i)
        weft::spawn([&] { ++ran; });
      while (!may_end)
        sched_yield();
    });
    stand_in_pool pool(static_cast<int>(std::thread::hardware_concurrency()));
    EXPECT_TRUE(soon([] { return away() == 1; }));
    may_end = true;
    weft::taskwait();
    EXPECT_EQ(ran, 1000);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(step_back, the_program_ends_while_a_worker_is_away) {
  auto end = test::in_process(k_two, [] {
    weft::spawn([] {});
    weft::taskwait();
    auto *const pool = new stand_in_pool(static_cast<int>(std::thread::hardware_concurrency()));
    EXPECT_TRUE(soon([] { return away() == 1; }));
    delete pool;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(step_back, the_program_ends_while_pool_threads_compute_for_ever) {
  auto end = test::in_process(k_two, [] {
    weft::spawn([] {});
    weft::taskwait();
    static stand_in_pool *const pool =
        new stand_in_pool(static_cast<int>(std::thread::hardware_concurrency()));
    (void)pool;
    EXPECT_TRUE(soon([] { return away() == 1; }));
    weft::shutdown();
    _exit(testing::Test::HasFailure() ? 1 : 0); // the pool threads compute for ever
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(step_back, a_worker_that_has_ended_with_the_program_is_left_alone) {
  const test::environment three{{"WEFT_WORKERS", "3"}, {"WEFT_WATCH_MAX_SPARES", "0"}};
  auto end = test::in_process(three, [] {
    weft::start();
    static std::atomic<bool> begun{false}, may_end{false};
    std::thread other([] {
      weft::spawn([] {
        begun = true;
        while (!may_end)
          usleep(1000);
      });
      const runtime &rt = the_runtime();
      const auto has_ended = [&](std::size_t id) {
        const worker *const w = rt.slots[id].load();
        return w && w->tid == 0;
      };
      EXPECT_TRUE(soon([&] { return rt.stopping && (has_ended(1) || has_ended(2)); }));
      const worker &ended = *rt.slots[has_ended(1) ? 1u : 2u].load();
      {
        const stand_in_pool pool(static_cast<int>(std::thread::hardware_concurrency()));
        for (int i = 0; i < 20; ++i) {
          const auto looks = rt.watch.looks();
          EXPECT_TRUE(soon([&] { return rt.watch.looks() > looks; }));
          EXPECT_EQ(ended.seat.is(), spare_seat<>::gone);
        }
      }
      may_end = true;
    });
    EXPECT_TRUE(soon([] { return begun.load(); }));
    weft::shutdown(); // waits for the worker that is busy
    other.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(step_back, a_worker_of_a_set_stays) {
  auto end = test::in_process(k_two, [] {
    weft::function_options options;
    options.on = weft::worker_set::of_workers({1});
    stand_in_pool pool(static_cast<int>(std::thread::hardware_concurrency()));
    std::atomic<bool> ran{false};
    for (int i = 0; i < 20; ++i) {
      const auto looks = the_runtime().watch.looks();
      EXPECT_TRUE(soon([&] { return the_runtime().watch.looks() > looks; }));
      EXPECT_EQ(away(), 0u);
    }
    weft::spawn_function([](void *p) { *static_cast<std::atomic<bool> *>(p) = true; }, &ran,
                         nullptr, nullptr, options);
    EXPECT_TRUE(soon([&] { return ran.load(); }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Runs a function on worker 1, by a set that nothing has named before. Returns whether it ran
/// there.
bool runs_on_worker_1() {
  weft::function_options options;
  options.on = weft::worker_set::of_workers({1});
  std::atomic<int> worker{-1};
  weft::spawn_function(
      [](void *p) { *static_cast<std::atomic<int> *>(p) = weft::worker_id(); }, &worker, nullptr,
      nullptr, options);
  return soon([&] { return worker == 1; });
}

TEST(step_back, a_worker_that_comes_into_a_set_comes_back) {
  auto end = test::in_process(k_two, [] {
    weft::spawn([] {});
    weft::taskwait();
    stand_in_pool pool(static_cast<int>(std::thread::hardware_concurrency()));
    EXPECT_TRUE(soon([] {
      return away() == 1 && the_runtime().slots[1].load()->seat.is() == spare_seat<>::parked;
    }));
    EXPECT_TRUE(runs_on_worker_1());
    EXPECT_TRUE(soon([] { return away() == 0; }));
    for (int i = 0; i < 20; ++i) { // it stays, although the pool computes
      const auto looks = the_runtime().watch.looks();
      EXPECT_TRUE(soon([&] { return the_runtime().watch.looks() > looks; }));
      EXPECT_EQ(away(), 0u);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

bool is_parked(int id) {
  const worker *const w = the_runtime().slots[static_cast<std::size_t>(id)].load();
  return w && w->seat.is() == spare_seat<>::parked;
}

TEST(step_back, another_worker_steps_back_for_one_that_comes_into_a_set) {
  const test::environment settings{{"WEFT_WORKERS", "3"},
                                   {"WEFT_SCHED_WORKERS", "2"},
                                   {"WEFT_WATCH_HANG", "off"},
                                   {"WEFT_WATCH_MAX_SPARES", "1"}};
  auto end = test::in_process(settings, [] {
    weft::spawn([] {});
    weft::taskwait();
    EXPECT_TRUE(soon([&] { return is_parked(1) || is_parked(2); }));
    const int one = is_parked(1) ? 1 : 2, other = 3 - one;
    EXPECT_EQ(weft::worker_set::of_workers({one}).size(), 1);
    EXPECT_TRUE(soon([&] { return is_parked(other) && !is_parked(one); }));
    EXPECT_EQ(away(), 1u);
    EXPECT_EQ(the_runtime().hangs.examinations(), 0u) << "watch.hang is off";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// The watcher rests: no pool thread computes, and the workers are as many as there are to be.
TEST(step_back, a_worker_beyond_the_setting_that_comes_into_a_set_comes_back) {
  test::environment settings = k_two;
  settings.emplace_back("WEFT_SCHED_WORKERS", "1");
  auto end = test::in_process(settings, [] {
    weft::spawn([] {});
    weft::taskwait();
    EXPECT_TRUE(soon([] { return away() == 1; }));
    EXPECT_TRUE(soon([] { // no look for a while
      const auto looks = the_runtime().watch.looks();
      usleep(50'000);
      return the_runtime().watch.looks() == looks;
    }));
    EXPECT_TRUE(runs_on_worker_1());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(step_back, a_child_of_fork_has_no_pool_threads) {
  test::environment settings = k_two;
  settings.emplace_back("TSAN_OPTIONS", "die_after_fork=0:report_thread_leaks=0");
  auto end = test::in_process(settings, [] {
    stand_in_pool pool(static_cast<int>(std::thread::hardware_concurrency()));
    weft::spawn([] {});
    weft::taskwait();
    EXPECT_TRUE(soon([] { return away() == 1; }));
    const pid_t child = fork();
    if (child == 0) {
      meet(); // with both workers
      _exit(away() == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

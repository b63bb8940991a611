// SPDX-License-Identifier: Apache-2.0
// Tests waits in Weft of lightweight threads with their own blocks: such a thread takes no work of
// others, because that might sleep in the kernel until the thread goes on, and it keeps no worker.
#include "started.hpp"

#include "support/case_process.hpp"
#include "support/policies.hpp"

#include <weft/sync/semaphore.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

using test::k_policies;
using test::run_one;
using test::started;

template <class F>
void with_each(F f) {
  for (const char *policy : k_policies)
    for (const char *workers : {"1", "2"}) {
      const auto end =
          test::in_process({{"WEFT_WORKERS", workers}, {"WEFT_SCHED_POLICY", policy}}, f);
      EXPECT_TRUE(end.exited(0)) << policy << ", " << workers << ": " << end;
    }
}

TEST(threads_weft_wait, a_thread_is_not_kept_by_a_task_that_waits_for_it) {
  with_each([] {
    weft::counting_semaphore<> s(0);
    std::promise<void> has_waited;
    std::atomic<bool> begun{false};
    started all;
    all.start([&] {
      begun = true;
      s.acquire();
      has_waited.set_value();
    });
    while (!begun)
      usleep(100);
    weft::spawn([&] {
      s.release();
      has_waited.get_future().get(); // sleeps in the kernel
    });
    weft::taskwait();
    all.join();
  });
}

// The worker of a thread that waits is free for a task, also where no spare may run.
TEST(threads_weft_wait, a_thread_that_waits_keeps_no_worker) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    constexpr int k_waiters = 8;
    weft::counting_semaphore<> s(0);
    std::atomic<int> begun{0};
    started all;
    for (int i = 0; i != k_waiters; ++i)
      all.start([&] {
        ++begun;
        s.acquire();
      });
    while (begun != k_waiters)
      usleep(100);
    std::promise<void> ran;
    std::thread other([&] { weft::spawn_function([&] { ran.set_value(); }); });
    ran.get_future().get(); // the first thread sleeps in the kernel, so the other worker runs it
    other.join();
    s.release(k_waiters);
    all.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_weft_wait, a_thread_that_yields_lets_the_worker_run_others) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    const auto calls_until_another_runs = [](const auto &call) {
      std::atomic<bool> ran{false};
      std::atomic<int> calls{0};
      started all, inner;
      all.start([&] {
        inner.start([&] { ran = true; });
        while (!ran) {
          call();
          ++calls;
        }
      });
      all.join();
      return calls.load();
    };
    EXPECT_LE(calls_until_another_runs([] { weft::taskyield(); }), 2);
    EXPECT_LE(calls_until_another_runs([] {
                weft::spawn([] { weft::taskyield(); });
                weft::taskwait();
              }),
              2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_weft_wait, a_thread_runs_the_tasks_that_it_has_spawned) {
  with_each([] {
    constexpr int k_tasks = 1000;
    std::atomic<int> all{0};
    std::atomic<bool> same{false};
    run_one([&] {
      const pthread_t self = pthread_self();
      for (int i = 0; i != k_tasks; ++i)
        weft::spawn([&] { weft::spawn([&] { ++all; }); });
      weft::taskwait();
      same = pthread_equal(self, pthread_self()) != 0;
    });
    EXPECT_EQ(all, k_tasks);
    EXPECT_TRUE(same);
  });
}

TEST(threads_weft_wait, what_a_task_throws_reaches_the_thread) {
  with_each([] {
    std::string said;
    run_one([&] {
      weft::spawn([] { throw std::runtime_error("inside"); });
      try {
        weft::taskwait();
      } catch (const std::runtime_error &e) {
        said = e.what();
      }
    });
    EXPECT_EQ(said, "inside");
  });
}

/// Returns the path of the list of segments beside this program's own segment; empty without one.
std::string list_of_segments() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t at = line.find('/'); at != std::string::npos)
      if (const std::filesystem::path file = line.substr(at);
          file.filename() == "weft." + std::to_string(getpid()))
        return file.parent_path() / "weft.left";
  return {};
}

// A thread that uses Weft for the first time waits in the kernel, with a lock, for a file that
// another program has locked. If it let another thread run there, that one would wait for the lock.
TEST(threads_weft_wait, a_thread_that_comes_to_weft_is_not_left_while_it_sleeps) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_COUNTERS_SHARE", "true"}}, [] {
    constexpr int k_threads = 6; // which need more slots than the file has room for
    weft::taskwait();
    const std::string list = list_of_segments();
    const int file = open(list.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0) << list;
    ASSERT_EQ(flock(file, LOCK_EX), 0);
    weft::counting_semaphore<> s(0);
    std::atomic<int> begun{0};
    started all;
    for (int i = 0; i != k_threads; ++i)
      all.start([&] {
        ++begun;
        s.acquire();
      });
    while (begun != k_threads)
      usleep(100);
    s.release(k_threads);
    all.join();
    close(file);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Threads that wait in Weft for tasks of others, which sleep in the kernel until these threads have
/// gone on, and that run tasks of their own between.
TEST(threads_weft_wait, stress_of_threads_that_tasks_wait_for) {
  with_each([] {
    constexpr int k_waiters = 3, k_rounds = 100;
    struct seat {
      weft::counting_semaphore<> turn{0};
      std::vector<std::promise<void>> has_waited{k_rounds};
      std::atomic<int> own{0};
    };
    std::vector<std::unique_ptr<seat>> seats;
    for (int i = 0; i != k_waiters; ++i)
      seats.push_back(std::make_unique<seat>());
    started all;
    std::vector<std::thread> drivers;
    for (auto &at : seats) {
      all.start([&s = *at] {
        const pthread_t self = pthread_self();
        for (int r = 0; r != k_rounds; ++r) {
          s.turn.acquire();
          s.has_waited[static_cast<std::size_t>(r)].set_value();
          for (int i = 0; i != r % 4; ++i)
            weft::spawn([&s] { ++s.own; });
          if (r % 3 == 0)
            weft::taskwait();
          EXPECT_TRUE(pthread_equal(self, pthread_self()));
        }
        weft::taskwait();
      });
      drivers.emplace_back([&s = *at] {
        for (int r = 0; r != k_rounds; ++r) {
          weft::spawn([&s, r] {
            s.turn.release();
            s.has_waited[static_cast<std::size_t>(r)].get_future().get();
          });
          weft::taskwait();
        }
      });
    }
    for (std::thread &t : drivers)
      t.join();
    all.join();
    int expected = 0;
    for (int r = 0; r != k_rounds; ++r)
      expected += r % 4;
    for (const auto &s : seats)
      EXPECT_EQ(s->own, expected);
  });
}

// Both ends of a wake-up are lightweight threads.
TEST(threads_weft_wait, stress_of_threads_that_wake_each_other) {
  with_each([] {
    constexpr int k_threads = 4, k_rounds = 2000;
    std::vector<std::unique_ptr<weft::counting_semaphore<>>> turns;
    for (int i = 0; i != k_threads; ++i)
      turns.push_back(std::make_unique<weft::counting_semaphore<>>(i == 0 ? 1 : 0));
    std::atomic<int> passed{0};
    started all;
    for (int i = 0; i != k_threads; ++i)
      all.start([&, i] {
        for (int r = 0; r != k_rounds; ++r) {
          turns[static_cast<std::size_t>(i)]->acquire();
          passed.store(passed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
          turns[static_cast<std::size_t>((i + 1) % k_threads)]->release();
        }
      });
    all.join();
    EXPECT_EQ(passed, k_threads * k_rounds);
  });
}

// A report finds what a parked thread waits for, and takes its worker for idle.
TEST(threads_weft_wait, a_thread_that_waits_for_ever_is_reported) {
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "100ms"}, {"WEFT_WATCH_HANG", "abort"}}, [] {
        started all;
        all.start([] {
          weft::counting_semaphore<> never(0);
          weft::spawn([&] { never.acquire(); });
          weft::taskwait();
        });
        weft::counting_semaphore<> mine(0);
        mine.acquire();
      });
  EXPECT_TRUE(end.aborted()) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// A program with tasks and with a thread pool of its own: Weft's workers make room, and results are
// right. It runs with the library preloaded, two workers and no spares.
#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double away() { return weft::counters::take().value("/threads/stepped-back"); }

std::string name_of_thread() {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return name;
}

template <class Holds>
bool soon(Holds holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (holds())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A pool that computes on request, as libraries have one: its threads wait for a condition.
class plain_pool {
 public:
  explicit plain_pool(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      m_threads.emplace_back([this] { run(); });
  }
  ~plain_pool() {
    set(state::ends);
    for (auto &t : m_threads)
      t.join();
  }
  void compute() { set(state::computes); }
  void spin() { set(state::yields); }
  void wait() { set(state::waits); }

 private:
  enum class state { waits, computes, yields, ends };
  void set(state s) {
    {
      const std::lock_guard lock(m_lock);
      m_state = s;
    }
    m_changed.notify_all();
  }
  void run() {
    for (;;) {
      {
        std::unique_lock lock(m_lock);
        m_changed.wait(lock, [&] { return m_state != state::waits; });
      }
      if (m_state == state::ends)
        return;
      if (m_state == state::yields)
        sched_yield();
    }
  }
  std::mutex m_lock;
  std::condition_variable m_changed;
  std::atomic<state> m_state{state::waits};
  std::vector<std::thread> m_threads;
};

long sum_by_tasks(int n) {
  std::vector<long> parts(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    weft::spawn([&parts, i] { parts[static_cast<std::size_t>(i)] = i; });
  weft::taskwait();
  long sum = 0;
  for (const long p : parts)
    sum += p;
  return sum;
}

struct workers : testing::Test {
  plain_pool pool{std::thread::hardware_concurrency()};
  void SetUp() override { EXPECT_EQ(sum_by_tasks(100), 4950); }
};

TEST_F(workers, make_room_while_a_pool_computes_and_return_when_it_waits) {
  for (int round = 0; round < 10; ++round) {
    pool.compute();
    EXPECT_TRUE(soon([] { return away() == 1; }));
    EXPECT_EQ(sum_by_tasks(10'000), 49'995'000);
    pool.wait();
    EXPECT_TRUE(soon([] { return away() == 0; }));
    EXPECT_EQ(sum_by_tasks(10'000), 49'995'000);
  }
}

/// Runs two tasks that wait for each other: both workers must run.
void meet() {
  std::atomic<int> there{0};
  for (int i = 0; i < 2; ++i)
    weft::spawn([&] {
      ++there;
      while (there != 2)
        sched_yield();
    });
  weft::taskwait();
  EXPECT_EQ(there, 2);
}

TEST_F(workers, are_there_beside_a_pool_that_sleeps) {
  EXPECT_TRUE(soon([] { return away() == 0; })); // its threads run until they wait
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(sum_by_tasks(1000), 499'500);
    meet();
  }
}

TEST_F(workers, are_there_beside_a_pool_that_spins_on_sched_yield) {
  pool.spin();
  EXPECT_TRUE(soon([] { return away() == 0; }));
  EXPECT_EQ(sum_by_tasks(1000), 499'500);
  meet();
}

TEST_F(workers, return_when_a_pool_ends) {
  {
    plain_pool short_lived(std::thread::hardware_concurrency());
    short_lived.compute();
    EXPECT_TRUE(soon([] { return away() == 1; }));
  }
  EXPECT_TRUE(soon([] { return away() == 0; }));
}

TEST_F(workers, run_tasks_of_a_pool_thread) {
  long sum = 0;
  std::thread([&] { sum = sum_by_tasks(1000); }).join();
  EXPECT_EQ(sum, 499'500);
}

TEST_F(workers, are_all_there_in_the_child_of_a_fork) {
  pool.compute();
  EXPECT_TRUE(soon([] { return away() == 1; }));
  const pid_t child = fork();
  if (child == 0)
    _exit(sum_by_tasks(1000) == 499'500 && away() == 0 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// Has threads compute until `wait` lets them, in a call that the preloaded library does not wrap.
template <class Wait>
void expect_return_from(Wait wait, const std::function<void()> &end_wait) {
  std::atomic<bool> waits{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
    threads.emplace_back([&] {
      while (!waits) {
      }
      wait();
    });
  EXPECT_TRUE(soon([] { return away() == 1; }));
  waits = true;
  EXPECT_TRUE(soon([] { return away() == 0; }));
  meet();
  end_wait();
  for (auto &t : threads)
    t.join();
}

TEST_F(workers, return_when_pool_threads_read_a_pipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_return_from(
      [&] {
        char c;
        EXPECT_EQ(read(ends[0], &c, 1), 0);
      },
      [&] { close(ends[1]); });
  close(ends[0]);
}

TEST_F(workers, return_when_pool_threads_want_a_mutex) {
  std::mutex mutex;
  mutex.lock();
  expect_return_from([&] { const std::lock_guard lock(mutex); }, [&] { mutex.unlock(); });
}

TEST_F(workers, make_room_in_the_child_of_a_pool_thread) {
  int status = -1;
  std::thread([&] {
    const pid_t child = fork();
    if (child == 0) {
      const bool right = sum_by_tasks(1000) == 499'500 && soon([] { return away() == 0; });
      std::atomic<bool> ends{false};
      std::vector<std::thread> threads;
      for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
        threads.emplace_back([&] {
          while (!ends) {
          }
        });
      const bool room = soon([] { return away() == 1; });
      ends = true;
      for (auto &t : threads)
        t.join();
      _exit(right && room && soon([] { return away() == 0; }) ? 0 : 1);
    }
    waitpid(child, &status, 0);
  }).join();
  EXPECT_EQ(status, 0);
}

TEST_F(workers, see_thousands_of_threads_come_and_go) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 2000; ++i)
    std::thread([&] { ++ran; }).join();
  EXPECT_EQ(ran, 2000);
  EXPECT_EQ(sum_by_tasks(1000), 499'500);
  EXPECT_TRUE(soon([] { return away() == 0; }));
}

TEST_F(workers, give_no_thread_of_a_task_their_name) {
  std::atomic<int> there{0};
  std::string own[2], made[2];
  for (int i = 0; i < 2; ++i)
    weft::spawn([&, i] {
      ++there;
      while (there != 2) // so each worker runs one
        sched_yield();
      own[i] = name_of_thread();
      std::thread([&] { made[i] = name_of_thread(); }).join();
    });
  weft::taskwait();
  EXPECT_TRUE(own[0].starts_with("weft-worker-") || own[1].starts_with("weft-worker-"))
      << own[0] << " and " << own[1];
  for (const std::string &name : made)
    EXPECT_EQ(name, name_of_thread());
}

bool blocks(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(masks, of_what_tasks_start_are_that_of_the_thread_that_started_weft) {
  std::atomic<int> on_worker{0}, threads{0}, deaf_threads{0}, commands{0}, children{0};
  const pthread_t me = pthread_self();
  weft::spawn([&] {
    while (pthread_equal(pthread_self(), me)) // the waiter below is not here yet
      weft::taskyield();
    ++on_worker;
    EXPECT_TRUE(blocks(SIGTERM));
    std::thread([&] { threads += !blocks(SIGTERM); }).join();
    const int status = std::system("kill -TERM $$");
    commands += WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    const pid_t child = fork();
    if (child == 0)
      _exit(blocks(SIGTERM));
    int end = -1;
    waitpid(child, &end, 0);
    children += end == 0;
    EXPECT_TRUE(blocks(SIGTERM));
    sigset_t all, before; // a library whose thread is to take none of the program's signals
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([&] { deaf_threads += blocks(SIGTERM); }).join();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
  EXPECT_TRUE(soon([&] { return children != 0 || on_worker != 0; }));
  weft::taskwait();
  EXPECT_EQ(on_worker, 1);
  EXPECT_EQ(deaf_threads, 1);
  EXPECT_EQ(threads, 1);
  EXPECT_EQ(commands, 1);
  EXPECT_EQ(children, 1);
}

} // namespace

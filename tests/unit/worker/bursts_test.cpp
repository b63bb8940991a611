// SPDX-License-Identifier: Apache-2.0
// Bursts of tasks that block in the kernel: each burst gets as many spares as the first. What is counted is how many tasks are blocked at once.
#include "support/case_process.hpp"
#include "support/soon.hpp"
#include "worker/runtime.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace weft::rt;
using std::chrono::milliseconds;
using test::soon;

constexpr int k_most_spares = 64; // and k_idle is how long one is kept
constexpr milliseconds k_idle{40};

test::environment usual(test::environment more = {}) {
  more.insert(
      more.end(),
      {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "64"}, {"WEFT_WATCH_SPARE_IDLE", "40ms"}});
  return more;
}

/// n tasks that block until as many of them are blocked at once as can be; a thread that is not Weft's lets them go.
void burst(int n) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int most = std::min(n, 2 + k_most_spares);
  std::atomic<int> blocked{0};
  std::thread usher([&] {
    EXPECT_TRUE(soon([&] { return blocked == most; })) << blocked << " of " << most;
    const std::string go(static_cast<std::size_t>(n), 'x');
    EXPECT_EQ(write(ends[1], go.data(), go.size()), n);
  });
  for (int i = 0; i != n; ++i)
    weft::spawn([&] {
      char c;
      ++blocked;
      EXPECT_EQ(read(ends[0], &c, 1), 1);
      --blocked;
    });
  weft::taskwait();
  usher.join();
  close(ends[0]), close(ends[1]);
}

void bursts_with_pauses() {
  for (const int n : {2, 10, 1000})
    for (const milliseconds pause : {milliseconds(0), k_idle / 2, k_idle, 2 * k_idle}) {
      burst(n);
      std::this_thread::sleep_for(pause);
    }
  EXPECT_LE(the_runtime().spare_threads.slots(), 2u + k_most_spares);
}

TEST(bursts, each_blocks_as_many_at_once_as_the_first) {
  auto end = test::in_process(usual(), &bursts_with_pauses);
  EXPECT_TRUE(end.exited(0)) << end;
}

struct with_policy : testing::TestWithParam<const char *> {};
TEST_P(with_policy, each_blocks_as_many_at_once_as_the_first) {
  auto end = test::in_process(usual({{"WEFT_SCHED_POLICY", GetParam()}}), [] {
    for (int i = 0; i != 4; ++i)
      burst(100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
INSTANTIATE_TEST_SUITE_P(bursts, with_policy,
                         testing::Values("delegated", "local-fifo", "central"));

struct with_managers : testing::TestWithParam<const char *> {};
TEST_P(with_managers, each_blocks_as_many_at_once_as_the_first) {
  auto end = test::in_process(usual({{"WEFT_MANAGE_MODE", GetParam()}}), [] {
    for (int i = 0; i != 4; ++i)
      burst(100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
INSTANTIATE_TEST_SUITE_P(bursts, with_managers,
                         testing::Values("central", "hybrid", "distributed", "auto"));

TEST(bursts, block_as_many_in_a_forked_child_and_in_its_parent_afterwards) {
  auto end = test::in_process(usual({{"TSAN_OPTIONS", "die_after_fork=0:report_thread_leaks=0"},
                                     {"ASAN_OPTIONS", "detect_leaks=0"}}),
                              [] {
                                for (int i = 0; i != 3; ++i) {
                                  burst(100);
                                  const pid_t child = fork();
                                  if (child == 0) {
                                    burst(100), burst(100);
                                    std::exit(testing::Test::HasFailure() ? 1 : 0);
                                  }
                                  int status = 0;
                                  EXPECT_EQ(waitpid(child, &status, 0), child);
                                  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
                                      << status;
                                }
                                burst(100);
                              });
  EXPECT_TRUE(end.exited(0)) << end;
}

// Each task sleeps for a while only: spares must come while it does. Two at a time would be none. On a
// busy machine the watcher gets no processor, or its looks are dear, so that it looks less than once a
// nap (pace.hpp): then nothing is to be noticed.
TEST(bursts, of_naps_are_noticed_each_time) {
  auto end = test::in_process(usual(), [] {
    using clock = std::chrono::steady_clock;
    for (int round = 0; round != 4; ++round) {
      std::atomic<int> asleep{0}, most{0};
      const auto looks_before = round == 0 ? 0 : the_runtime().watch.looks(); // 0: Weft has not started
      const auto begin = clock::now();
      for (int i = 0; i != 200; ++i)
        weft::spawn([&] {
          const int now = ++asleep;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::sleep_for(milliseconds(20));
          --asleep;
        });
      weft::taskwait();
      const auto looks = the_runtime().watch.looks() - looks_before;
      const bool seldom = looks * milliseconds(15) < clock::now() - begin;
      EXPECT_TRUE(most > 2 || seldom) << "round " << round << ": " << most << ", " << looks << " looks";
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// A local service: answers none before as many ask at once as can.
void serve(int socket, int most, int all) {
  int waiting = 0;
  for (int i = 0; i != all; ++i) {
    char c;
    ASSERT_EQ(read(socket, &c, 1), 1);
    if (++waiting < most && i + 1 != all)
      continue;
    const std::string answers(static_cast<std::size_t>(waiting), 'y');
    ASSERT_EQ(write(socket, answers.data(), answers.size()), waiting);
    waiting = 0;
    most = std::min(most, all - i - 1);
  }
}

TEST(bursts, of_local_requests_after_a_phase_of_computing) {
  auto end = test::in_process(usual(), [] {
    for (int round = 0; round != 2; ++round) {
      for (int i = 0; i != 1000; ++i)
        weft::spawn([] {
          for (volatile int k = 0; k != 100'000;)
            k = k + 1;
        });
      weft::taskwait();
      constexpr int n = 200;
      int ends[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      std::thread service([&] { serve(ends[1], k_most_spares, n); });
      for (int i = 0; i != n; ++i)
        weft::spawn([&] {
          char c = 'x';
          EXPECT_EQ(write(ends[0], &c, 1), 1);
          EXPECT_EQ(read(ends[0], &c, 1), 1);
        });
      weft::taskwait();
      service.join();
      close(ends[0]), close(ends[1]);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// ---- locks ----------------------------------------------------------------------------------------------------------

/// Whether the kernel tells what a thread sleeps for.
bool kernel_tells() {
  std::atomic<int> tid{0};
  std::atomic<bool> enough{false};
  std::thread sleeper([&] {
    tid = gettid();
    while (!enough)
      std::this_thread::sleep_for(milliseconds(50));
  });
  bool tells = false;
  for (int i = 0; i != 100 && !tells; ++i, std::this_thread::sleep_for(milliseconds(10)))
    tells = tid != 0 && wait_of_thread(tid).what == thread_wait::kind::clock;
  enough = true;
  sleeper.join();
  return tells;
}

// The waiters get as many spares as there are workers, and a holder that sleeps gets one. The kernel
// tells of one thread after the other, so that more than one may seem to sleep as a holder where the
// watcher is held up in between (five spares were seen on a full machine). Without the limit each of
// the 64 tasks would get one.
constexpr unsigned k_few_spares = 8;

TEST(bursts, that_contend_for_a_mutex_start_few_spares) {
  auto end = test::in_process(usual(), [] {
    if (!kernel_tells())
      GTEST_SKIP() << "no /proc/self/task/TID/syscall";
    std::mutex m;
    int turns = 0;
    for (int i = 0; i != 64; ++i)
      weft::spawn([&] {
        std::lock_guard turn(m);
        std::this_thread::sleep_for(milliseconds(30));
        ++turns;
      });
    weft::taskwait();
    EXPECT_EQ(turns, 64);
    EXPECT_LE(the_runtime().spare_threads.started(), k_few_spares);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output.find("watch.max_spares"), std::string::npos) << end;
}

TEST(bursts, that_contend_for_a_mutex_whose_holder_computes_start_few_either) {
  auto end = test::in_process(usual(), [] {
    if (!kernel_tells())
      GTEST_SKIP() << "no /proc/self/task/TID/syscall";
    std::mutex m;
    for (int i = 0; i != 64; ++i)
      weft::spawn([&] {
        std::lock_guard turn(m);
        for (volatile int k = 0; k != 2'000'000;)
          k = k + 1;
      });
    weft::taskwait();
    EXPECT_LE(the_runtime().spare_threads.started(), k_few_spares);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// The limit is no promise: workers run the work that the holder waits for, whichever tasks wait for
// the lock.
TEST(bursts, that_wait_for_a_mutex_whose_holder_waits_for_a_later_task_end) {
  auto end = test::in_process(usual(), [] {
    for (int round = 0; round != 2; ++round) {
      int ends[2];
      ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
      std::mutex m;
      std::atomic<bool> held{false};
      std::atomic<int> ended{0};
      weft::spawn([&] {
        std::lock_guard turn(m);
        held = true;
        char c;
        EXPECT_EQ(read(ends[0], &c, 1), 1);
      });
      EXPECT_TRUE(soon([&] { return held.load(); }));
      for (int i = 0; i != 30; ++i)
        weft::spawn([&] {
          std::lock_guard turn(m);
          ++ended;
        });
      weft::spawn([&] { EXPECT_EQ(write(ends[1], "x", 1), 1); }, weft::priority(-1));
      weft::taskwait();
      EXPECT_EQ(ended, 30);
      close(ends[0]), close(ends[1]);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Signals in a program whose threads run tasks.
#include "hardening/work.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

namespace {

using test::in_process;
using test::k_rough;
using test::works;

int thread_id() { return static_cast<int>(syscall(SYS_gettid)); }

std::atomic<int> g_handled{0}, g_by_others{0};
int g_main_id = 0;

void handle(int) {
  const int saved = errno;
  char room[2048]; // a handler needs some stack, that of a task or of a waiting thread
  std::memset(room, 1, sizeof room);
  asm volatile("" : : "r"(room) : "memory");
  ++g_handled;
  g_by_others += thread_id() != g_main_id;
  errno = saved;
}

void listen(int signal, int flags) {
  struct sigaction action{};
  action.sa_handler = &handle;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

TEST(signals, of_a_profiler_interrupt_workers_and_disturb_nothing) {
  if (test::k_sanitized)
    GTEST_SKIP() << "signals: sanitizers hand them on when they think fit";
  auto end = in_process(k_rough, [] {
    listen(SIGPROF, SA_RESTART);
    itimerval every{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &every, nullptr);
    int rounds = 0;
    while (g_handled < 50 && rounds < 100000) {
      ASSERT_TRUE(works());
      ++rounds;
    }
    every = {};
    setitimer(ITIMER_PROF, &every, nullptr);
    EXPECT_GE(g_handled, 50);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(signals, in_numbers_go_to_the_programs_threads_and_disturb_no_wait) {
  if (test::k_sanitized)
    GTEST_SKIP() << "signals: sanitizers hand them on when they think fit";
  auto end = in_process(k_rough, [] {
    g_main_id = thread_id();
    listen(SIGUSR1, 0); // without SA_RESTART: waits of the kernel are interrupted
    std::atomic<bool> stop{false};
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mine, nullptr);
    std::thread sender([&] { // has it blocked
      while (!stop) {
        kill(getpid(), SIGUSR1);
        usleep(50);
      }
    });
    pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
    for (int i = 0; i != 100'000 && (i < test::scaled(60, 5) || g_handled == 0);
         ++i) // the sender may get no cpu for long
      ASSERT_TRUE(works());
    stop = true;
    sender.join();
    EXPECT_GT(g_handled, 0);
    EXPECT_EQ(g_by_others, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(signals, sent_to_a_worker_stay_pending_there) {
  auto end = in_process(k_rough, [] {
    listen(SIGUSR2, 0);
    std::atomic<int> sent{0};
    const pthread_t me = pthread_self();
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] {
        if (!pthread_equal(pthread_self(), me)) {
          pthread_kill(pthread_self(), SIGUSR2);
          ++sent;
        }
        usleep(10);
      });
    EXPECT_TRUE(test::soon([&] { return sent > 0; })); // else this thread may run all of them
    weft::taskwait();
    EXPECT_TRUE(works());
    EXPECT_EQ(g_handled, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(signals, a_handler_finds_the_main_thread_on_a_tasks_stack_and_may_exit) {
  if (test::k_sanitized)
    GTEST_SKIP() << "signals: sanitizers hand them on when they think fit";
  test::environment settings = k_rough;
  settings.emplace_back("WEFT_WATCH_HANG", "off"); // nothing but the signal ends it
  auto end = in_process(settings, [] {
    std::signal(SIGALRM, [](int) { _exit(6); });
    alarm(1);
    weft::spawn([] { weft::this_task::block(); }); // for ever
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(6)) << end;
}

} // namespace

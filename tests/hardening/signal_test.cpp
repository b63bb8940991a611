// SPDX-License-Identifier: Apache-2.0
// Signals in a program whose threads run tasks.
#include "hardening/work.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
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

/// The blocked ones of some signals of the calling thread.
std::string blocked_here() {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  std::string text;
  for (const auto &[signal, name] :
       {std::pair{SIGTERM, "term "}, std::pair{SIGUSR1, "usr1 "}, std::pair{SIGUSR2, "usr2 "}})
    if (sigismember(&now, signal))
      text += name;
  return text;
}

/// Returns whether the child of a fork() by the caller has no signal blocked but SIGUSR2.
bool child_has_programs_mask() {
  const pid_t child = fork();
  if (child == 0)
    _exit(blocked_here() == "usr2 " ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(signals, of_children_that_tasks_fork_are_blocked_as_where_weft_started) {
  auto end = in_process(k_rough, [] {
    const pthread_t me = pthread_self();
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &mine, nullptr);
    std::atomic<int> on_worker{0}, right{0}, kept{0};
    for (int i = 0; i != 20; ++i)
      weft::spawn([&] {
        test::dawdle();
        if (pthread_equal(pthread_self(), me))
          return;
        ++on_worker;
        right += child_has_programs_mask();
        kept += blocked_here() == "term usr1 usr2 ";
      });
    EXPECT_TRUE(test::soon([&] { return on_worker > 0; }));
    weft::taskwait();
    EXPECT_EQ(right, on_worker);
    EXPECT_EQ(kept, on_worker) << "the worker keeps its mask";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Returns whether the child of a fork() by the caller, which blocks all signals around it, has them
/// blocked, and starts processes of its own with what it blocks then.
bool child_has_all_blocked() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t child = fork();
  if (child == 0) {
    if (blocked_here() != "term usr1 usr2 ")
      _exit(1);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &one, nullptr);
    const pid_t grandchild = fork();
    if (grandchild == 0)
      _exit(blocked_here() == "usr1 " ? 0 : 1);
    int status = -1;
    waitpid(grandchild, &status, 0);
    _exit(status == 0 ? 0 : 1);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(signals, of_children_of_tasks_that_block_all_of_them_stay_blocked) {
  auto end = in_process(k_rough, [] {
    const pthread_t me = pthread_self();
    std::atomic<int> on_worker{0}, right{0};
    for (int i = 0; i != 20; ++i)
      weft::spawn([&] {
        test::dawdle();
        if (pthread_equal(pthread_self(), me))
          return;
        ++on_worker;
        right += child_has_all_blocked();
      });
    EXPECT_TRUE(test::soon([&] { return on_worker > 0; }));
    weft::taskwait();
    EXPECT_EQ(right, on_worker);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(signals, of_children_of_other_threads_are_inherited) {
  auto end = in_process(k_rough, [] {
    ASSERT_TRUE(works());
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &mine, nullptr); // after the start
    EXPECT_TRUE(child_has_programs_mask());
    std::thread([] {
      weft::spawn([] {});
      weft::taskwait();
      EXPECT_TRUE(child_has_programs_mask());
    }).join();
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

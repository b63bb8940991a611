// SPDX-License-Identifier: Apache-2.0
// Tests what fork() and exit() do to lightweight threads.
#include "started.hpp"

#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace weft_threads;
using test::run_one;
using test::started;

int exit_status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int g_forgotten = 0;

TEST(threads_process, the_child_of_a_thread_of_the_program_begins_anew) {
  const auto end = test::in_process({}, [] {
    forget_in_child([] { ++g_forgotten; });
    std::atomic<bool> may_end{false};
    started all;
    for (int i = 0; i < 3; ++i)
      all.start([&] {
        while (!may_end)
          sched_yield();
      });
    const pid_t child = fork();
    if (child == 0) {
      int wrong = g_forgotten != 1;
      wrong += 2 * (light_threads("test") != 0);
      wrong += 4 * runtime_is_gone();
      std::atomic<int> ran{0};
      {
        started more;
        for (int i = 0; i < 5; ++i)
          more.start([&ran] { ++ran; });
      }
      _exit(wrong + 8 * (ran != 5));
    }
    EXPECT_EQ(exit_status_of(child), 0);
    EXPECT_EQ(g_forgotten, 0);
    EXPECT_EQ(light_threads("test"), 3u);
    may_end = true;
    all.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_process, the_child_of_a_lightweight_thread_has_that_thread_only) {
  const auto end = test::in_process({}, [] {
    std::atomic<int> status{-1};
    run_one([&] {
      const pid_t child = fork();
      if (child == 0) {
        const char *reason = nullptr;
        int wrong = !runtime_is_gone();
        wrong += 2 * (light_threads("test") != 1);
        wrong += 4 * (start_light_thread({[](void *) {}}, &reason) != nullptr || !reason);
        park_light_thread(); // returns: no thread could wake it
        yield_light_thread();
        wrong += 8 * (this_light_thread() == nullptr);
        _exit(wrong);
      }
      status = exit_status_of(child);
    });
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(runtime_is_gone());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Returns whether the kernel blocks SIGUSR2 for the caller, and not SIGTERM.
bool kernel_has_programs_mask() {
  std::uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return (mask >> (SIGUSR2 - 1) & 1) == 1 && (mask >> (SIGTERM - 1) & 1) == 0;
}
/// Returns whether the calling thread has that mask, as it sees it.
bool caller_has_programs_mask() {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, SIGUSR2) == 1 && sigismember(&now, SIGTERM) == 0;
}
void block_one() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

TEST(threads_process, the_child_of_a_lightweight_thread_has_its_signal_mask) {
  const auto end = test::in_process({}, [] {
    block_one();
    std::atomic<int> status{-1}, after{-1};
    run_one([&] {
      status = exit_status_of([] {
        const pid_t child = fork();
        if (child != 0)
          return child;
        int wrong = !kernel_has_programs_mask();
        wrong += 2 * !caller_has_programs_mask();
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &one, nullptr);
        wrong += 4 * kernel_has_programs_mask(); // it holds in the kernel
        pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
        wrong += 8 * !kernel_has_programs_mask();
        _exit(wrong);
      }());
      after = kernel_has_programs_mask();
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(after, 0) << "the worker keeps its mask";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_process, a_thread_that_a_task_starts_has_the_mask_with_which_weft_was_started) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    block_one();
    const pthread_t me = pthread_self();
    std::atomic<int> right{-1};
    started all;
    weft::spawn([&] {
      while (pthread_equal(pthread_self(), me))
        weft::taskyield();
      all.start([&] { right = caller_has_programs_mask(); });
    });
    while (right < 0)
      usleep(100);
    weft::taskwait();
    EXPECT_EQ(right, 1);
    all.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_process, a_lightweight_thread_ends_the_program) {
  const auto end = test::in_process({}, [] {
    started all;
    all.start([] { std::exit(7); });
    for (;;)
      pause();
  });
  EXPECT_TRUE(end.exited(7)) << end;
}

TEST(threads_process, the_end_of_the_program_does_not_wait_for_one_that_computes) {
  const auto end = test::in_process({}, [] {
    static std::atomic<bool> computes{false};
    ASSERT_NE(start_light_thread({[](void *) {
                for (;;)
                  computes = true;
              }}),
              nullptr);
    while (!computes)
      usleep(100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Ends of the process and of its threads, from wherever they come.
#include "hardening/work.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"

#include <weft/algorithm.hpp>
#include <weft/coro.hpp>
#include <weft/future.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using test::in_process;
using test::k_rough;
using test::rough;
using test::works;

TEST(quick_exit, inside_of_a_task_calls_its_handlers_and_no_others) {
  auto end = in_process(k_rough, [] {
    std::atexit([] { std::fputs("atexit ran\n", stderr); });
    std::at_quick_exit([] { std::fputs("at_quick_exit ran\n", stderr); });
    for (int i = 0; i != 20; ++i)
      weft::spawn([] { weft::this_task::block(); }); // for ever
    weft::spawn([] {
      test::dawdle();
      std::quick_exit(7);
    });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(7)) << end;
  EXPECT_TRUE(end.printed("at_quick_exit ran")) << end;
  EXPECT_FALSE(end.printed("atexit ran")) << end;
}

TEST(exit, inside_of_a_task_while_others_run_keeps_its_status_each_time) {
  auto end = in_process(k_rough, [] {
    for (int run = 0; run != 10; ++run) {
      std::fflush(nullptr);
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);
        for (int i = 0; i != 200; ++i)
          weft::spawn([i] {
            if (i == 100)
              std::exit(7);
            weft::spawn([] { weft::taskyield(); });
            weft::this_task::sleep_for(std::chrono::microseconds(i));
            weft::taskwait();
          });
        weft::taskwait();
        _exit(1);
      }
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// GoogleTest lets the exception through, so it leaves main.
const test::environment k_lets_through = {{"GTEST_CATCH_EXCEPTIONS", "0"}};

TEST(exception, leaving_main_ends_the_process_as_without_weft) {
  auto end = in_process(rough(k_lets_through), [] {
    EXPECT_TRUE(works());
    throw std::runtime_error("nobody catches this");
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("nobody catches this")) << end;
}

TEST(exception, leaving_main_while_tasks_run_and_wait_ends_the_process) {
  auto end = in_process(rough(k_lets_through), [] {
    for (int i = 0; i != 10; ++i) {
      weft::spawn([] { weft::this_task::block(); });
      weft::spawn([] { test::dawdle(); });
    }
    throw std::runtime_error("nobody catches this");
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("nobody catches this")) << end;
}

TEST(exception, of_a_task_that_leaves_main_ends_the_process) {
  auto end = in_process(rough(k_lets_through), [] {
    weft::spawn([] { throw std::runtime_error("thrown by a task"); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("thrown by a task")) << end;
}

TEST(thread_exit, inside_of_a_task_is_refused_by_name) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer's pthread_exit() knows the stack of the thread only";
  auto end = in_process(k_rough, [] {
    weft::spawn([] { pthread_exit(nullptr); }, weft::label("leaver"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'leaver' was ended by pthread_exit() or pthread_cancel()")) << end;
}

TEST(thread_exit, inside_of_a_task_that_has_moved_is_refused_by_name) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer's pthread_exit() knows the stack of the thread only";
  auto end = in_process(k_rough, [] {
    for (int i = 0; i != 20; ++i)
      weft::spawn([] { test::dawdle(); });
    weft::spawn(
        [] {
          test::dawdle();
          pthread_exit(nullptr);
        },
        weft::label("leaver"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'leaver' was ended by pthread_exit() or pthread_cancel()")) << end;
}

TEST(thread_exit, inside_of_a_call_of_when_each_is_refused_by_name) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer's pthread_exit() knows the stack of the thread only";
  auto end = in_process(k_rough, [] {
    weft::when_each([](weft::future<int>) { pthread_exit(nullptr); }, weft::make_ready_future(1)).get();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'when_each' was ended by pthread_exit() or pthread_cancel()")) << end;
}

/// Ends its thread `depth` coroutines below the one that is a task.
weft::task<void> leave(int depth) {
  if (depth == 0)
    pthread_exit(nullptr);
  co_await leave(depth - 1);
}

TEST(thread_exit, inside_of_a_coroutine_is_refused_by_name) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer's pthread_exit() knows the stack of the thread only";
  for (const int depth : {0, 2, 200}) {
    auto end = in_process(k_rough, [depth] {
      weft::spawn([depth] { return leave(depth); }, weft::label("leaver"));
      weft::taskwait();
    });
    EXPECT_TRUE(end.aborted()) << depth << end;
    EXPECT_TRUE(end.printed("task 'leaver' was ended by pthread_exit() or pthread_cancel()")) << depth << end;
  }
}

TEST(thread_exit, inside_of_an_algorithm_on_a_set_is_refused_by_name) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer's pthread_exit() knows the stack of the thread only";
  auto end = in_process(k_rough, [] {
    const auto alone = weft::execution::seq.on(weft::worker_set::of_workers({0}));
    const std::vector<int> v(10);
    weft::for_each(alone, v, [](int) { pthread_exit(nullptr); });
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'algorithm' was ended by pthread_exit() or pthread_cancel()")) << end;
}

// gtest would stop the unwinding.
const test::environment k_unwinds = {{"WEFT_WORKERS", "2"}, {"GTEST_CATCH_EXCEPTIONS", "0"}};

TEST(thread_exit, of_the_first_thread_ends_the_process_after_its_tasks_and_other_threads) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer keeps a thread of its own, which counts as the program's";
  auto end = in_process(k_unwinds, [] {
    std::atexit([] { std::puts("atexit ran"); });
    weft::spawn([] { test::dawdle(), std::puts("a task ran"); });
    std::thread([] {
      weft::spawn([] { test::dawdle(), std::puts("another thread's task ran"); });
      weft::taskwait();
      test::dawdle();
      std::puts("another thread ended");
    }).detach();
    pthread_exit(nullptr);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *said :
       {"a task ran", "another thread's task ran", "another thread ended", "atexit ran"})
    EXPECT_TRUE(end.printed(said)) << said << end;
}

bool there_is_a_thread(const std::string &name) {
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string line;
    if (std::getline(std::ifstream(task.path() / "comm"), line) && line == name)
      return true;
  }
  return false;
}

TEST(thread_exit, of_the_first_thread_waits_for_a_thread_that_has_shut_weft_down) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "as above";
  auto end = in_process(k_unwinds, [] {
    static std::atomic<bool> started{false};
    std::thread([] {
      weft::spawn([] {});
      weft::taskwait();
      started = true;
      while (!there_is_a_thread("weft-main"))
        sched_yield();
      weft::shutdown();
      usleep(200'000); // the check for threads other than Weft's repeats
      std::puts("another thread ended");
      std::exit(7);
    }).detach();
    while (!started)
      sched_yield();
    weft::spawn([] {});
    pthread_exit(nullptr);
  });
  EXPECT_TRUE(end.exited(7)) << end;
  EXPECT_TRUE(end.printed("another thread ended")) << end;
}

TEST(thread_exit, of_the_first_thread_leaves_its_signals_to_the_process) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "as above";
  auto end = in_process(k_unwinds, [] {
    weft::spawn([] {});
    weft::taskwait();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([] {
      for (;;)
        pause();
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::signal(SIGALRM, [](int) { _exit(7); });
    alarm(1);
    pthread_exit(nullptr);
  });
  EXPECT_TRUE(end.exited(7)) << end;
}

TEST(exit, that_waits_for_tasks_without_an_end_says_so) {
  auto end = in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "1ms"}}, [] {
    static int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(dup2(ends[1], 2), 2);
    weft::spawn([] {
      std::string said;
      char c = 0;
      while (said.find("exit() waits for them") == std::string::npos && read(ends[0], &c, 1) == 1)
        said += c;
      _exit(7);
    });
    std::exit(0);
  });
  EXPECT_TRUE(end.exited(7)) << end;
}

// ---- pthread_cancel
// -------------------------------------------------------------------------------------------------

struct cancelled_thread {
  std::atomic<int> tasks{0};
  std::atomic<bool> waits{false}, back{false};
  test::gate open;
};

void *ended(pthread_t thread) {
  void *result = nullptr;
  pthread_join(thread, &result);
  return result;
}

TEST(cancellation, of_a_thread_that_waits_for_tasks_takes_effect_after_the_wait) {
  if (test::k_sanitized)
    GTEST_SKIP() << "sanitizers lose track of a thread that is cancelled";
  for (int i = 0; i != 80; ++i) { // more than there are slots for threads
    cancelled_thread c;
    pthread_t thread;
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void *p) -> void * {
                    auto &c = *static_cast<cancelled_thread *>(p);
                    for (int k = 0; k != 5; ++k)
                      weft::spawn([&] {
                        (void)c.open.pass(), usleep(1), ++c.tasks;
                      }); // usleep is a cancellation point
                    c.waits = true;
                    weft::taskwait();
                    c.back = true;
                    for (;;)
                      pthread_testcancel();
                  },
                  &c),
              0);
    EXPECT_TRUE(test::eventually([&] { return c.waits.load(); }));
    pthread_cancel(thread);
    c.open.open();
    EXPECT_EQ(ended(thread), PTHREAD_CANCELED);
    EXPECT_TRUE(c.back);
    EXPECT_EQ(c.tasks, 5);
  }
  EXPECT_TRUE(works());
}

TEST(cancellation, of_a_threads_own_code_leaves_no_task_behind) {
  if (test::k_sanitized)
    GTEST_SKIP() << "sanitizers lose track of a thread that is cancelled";
  for (int i = 0; i != 10; ++i) {
    cancelled_thread c;
    pthread_t thread;
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void *p) -> void * {
                    auto &c = *static_cast<cancelled_thread *>(p);
                    weft::task_group group; // waited for while the thread is unwound
                    for (int k = 0; k != 5; ++k) {
                      group.spawn([&] { (void)c.open.pass(), ++c.tasks; });
                      weft::spawn([&] { (void)c.open.pass(), ++c.tasks; });
                    }
                    c.waits = true;
                    for (;;)
                      pause();
                  },
                  &c),
              0);
    EXPECT_TRUE(test::eventually([&] { return c.waits.load(); }));
    pthread_cancel(thread);
    c.open.open();
    EXPECT_EQ(ended(thread), PTHREAD_CANCELED);
    EXPECT_EQ(c.tasks, 10);
  }
  EXPECT_TRUE(works());
}

TEST(cancellation, of_a_worker_does_nothing) {
  auto end = in_process(k_rough, [] {
    std::atomic<int> cancelled{0};
    const pthread_t me = pthread_self();
    for (int i = 0; i != 200; ++i)
      weft::spawn([&] {
        if (!pthread_equal(pthread_self(), me)) {
          pthread_cancel(pthread_self());
          ++cancelled;
        }
        usleep(10); // a cancellation point
      });
    EXPECT_TRUE(test::soon([&] { return cancelled > 0; })); // else this thread may run all of them
    weft::taskwait();
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

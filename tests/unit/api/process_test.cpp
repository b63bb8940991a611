// SPDX-License-Identifier: Apache-2.0
// Ends and copies of the process: exit from anywhere, static destructors, fork.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/layer/runtime_phase.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <vector>
#include <unistd.h>

namespace {

// These cases do on purpose what a thread sanitizer reports: threads that are never joined, and
// threads after a fork.
const test::environment k_rough = {
    {"TSAN_OPTIONS", "halt_on_error=1:report_thread_leaks=0:die_after_fork=0"},
    {"ASAN_OPTIONS", "detect_leaks=0"}};

int sum_by_tasks() {
  int x = 0;
  std::atomic<int> y{0};
  for (int i = 0; i != 50; ++i) {
    weft::spawn([&] { ++x; }, weft::inout(x));
    weft::spawn([&] { weft::taskyield(), ++y; });
  }
  weft::taskwait();
  return x + y;
}

TEST(exit, inside_of_a_task_ends_the_process_with_its_status) {
  auto end = test::in_process(k_rough, [] {
    weft::spawn([] { std::exit(7); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(7)) << end;
}

TEST(exit, inside_of_a_task_that_has_suspended_works_too) {
  auto end = test::in_process(k_rough, [] {
    for (int i = 0; i != 20; ++i)
      weft::spawn([] { weft::this_task::block(); }); // for ever
    weft::spawn([] {
      test::dawdle();
      std::exit(8);
    });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(8)) << end;
}

TEST(exit, inside_of_an_external_thread_works_too) {
  auto end = test::in_process(k_rough, [] {
    weft::spawn([] { test::dawdle(); });
    std::thread([] {
      weft::spawn([] {});
      weft::taskwait();
      std::exit(9);
    }).join();
  });
  EXPECT_TRUE(end.exited(9)) << end;
}

/// Runs until the process ends.
void compute_for_ever() {
  for (volatile bool ends = false; !ends;)
    ;
}

TEST(exit, of_a_thread_that_never_used_weft_leaves_tasks_that_do_not_end) {
  auto end = test::in_process(k_rough, [] {
    std::atomic<int> begun{0};
    std::thread([&] {
      while (begun == 0)
        std::this_thread::yield();
      std::exit(10);
    }).detach();
    for (int i = 0; i != 4; ++i)
      weft::spawn([&] { ++begun, compute_for_ever(); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(10)) << end;
}

TEST(exit, of_another_thread_leaves_tasks_that_do_not_end) {
  auto end = test::in_process(k_rough, [] {
    std::atomic<int> begun{0};
    std::thread([&] {
      while (begun == 0)
        std::this_thread::yield();
      std::atomic<bool> done{false};
      weft::spawn([&] { done = true; }, weft::priority(1));
      weft::taskwait();
      std::exit(done ? 11 : 1);
    }).detach();
    weft::spawn([&] { ++begun, compute_for_ever(); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(11)) << end;
}

TEST(exit, says_that_it_waits_for_tasks_of_other_threads) {
  test::environment patient = k_rough;
  patient.insert(patient.end(), {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "10ms"}});
  auto end = test::in_process(patient, [] {
    static const int errors = memfd_create("errors", MFD_CLOEXEC);
    ASSERT_EQ(dup2(errors, STDERR_FILENO), STDERR_FILENO);
    static std::atomic<bool> begun{false};
    weft::start();
    std::thread([] {
      weft::spawn([] {
        begun = true;
        std::array<char, 4096> text{};
        while (pread(errors, text.data(), text.size() - 1, 0) <= 0) // keeps its worker
          ;
        std::printf("%s", text.data()), std::fflush(stdout);
      });
      pause(); // a worker has to run the task
    }).detach();
    while (!begun)
      std::this_thread::yield();
    std::exit(12);
  });
  EXPECT_TRUE(end.exited(12)) << end;
  EXPECT_TRUE(end.printed("the program has ended, but tasks have not")) << end;
}

/// Lets its thread end late, behind all tasks, if it is armed.
struct ends_late {
  bool is_armed = false;
  ~ends_late() {
    if (is_armed) // longer than exit() gives the threads before it looks for tasks
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
};
thread_local ends_late t_ends_late;

TEST(exit, says_nothing_of_tasks_where_only_a_thread_ends_late) {
  test::environment impatient = k_rough;
  impatient.insert(impatient.end(), {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_PATIENCE", "1ms"}});
  auto end = test::in_process(impatient, [] {
    std::atomic<bool> is_armed{false};
    weft::spawn([&] {
      t_ends_late.is_armed = true;
      is_armed = true;
    });
    while (!is_armed) // on another thread than this one
      std::this_thread::yield();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("the program has ended")) << end;
}

TEST(exit, waits_for_tasks_that_nobody_waited_for) {
  auto end = test::in_process(k_rough, [] {
    for (int i = 0; i != 10; ++i)
      weft::spawn([] { test::dawdle(), std::printf("ran\n"), std::fflush(stdout); });
    std::exit(0); // the main task is complete when its children are
  });
  EXPECT_TRUE(end.exited(0)) << end;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = end.output.find("ran\n", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, 10u) << end;
}

/// Ends main before two tasks. The second one lasts until the runtime has written its warning, and
/// prints it: else the tasks might end before main does.
void leave_two_tasks() {
  static int x = 0;
  static const int errors = memfd_create("errors", MFD_CLOEXEC);
  // Else two threads that warn at once may write to the same place of such a file.
  ASSERT_EQ(fcntl(errors, F_SETFL, O_APPEND), 0);
  ASSERT_EQ(dup2(errors, STDERR_FILENO), STDERR_FILENO);
  weft::spawn([] { test::dawdle(); }, weft::out(x), weft::label("early"));
  weft::spawn(
      [] {
        std::array<char, 4096> text{};
        EXPECT_TRUE(test::eventually([&] {
          const ssize_t size = pread(errors, text.data(), text.size() - 1, 0);
          return size > 0 && text[static_cast<std::size_t>(size) - 1] == '\n' &&
                 std::strstr(text.data(), "main ends before");
        }));
        std::printf("%s", text.data()), std::fflush(stdout);
      },
      weft::inout(x), weft::label("late"));
  std::exit(0);
}

TEST(exit, names_tasks_of_main_that_nothing_waits_for) {
  test::environment direct = k_rough;
  direct.insert(direct.end(), {{"WEFT_MANAGE_MODE", "direct"}, {"WEFT_DEPS_SYSTEM", "wait-free"}});
  auto end = test::in_process(direct, leave_two_tasks);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("main ends before tasks that it spawned (")) << end;
  EXPECT_TRUE(end.printed("'late'")) << end;
}

TEST(exit, tells_of_tasks_of_main_that_nothing_waits_for_however_they_are_ordered) {
  auto end = test::in_process(k_rough, leave_two_tasks);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("main ends before tasks that it spawned")) << end;
}

TEST(exit, says_nothing_of_tasks_that_were_waited_for) {
  auto end = test::in_process(k_rough, [] {
    weft::spawn([] {});
    weft::taskwait();
    weft::spawn_function([](void *) { test::dawdle(); }, nullptr, nullptr, nullptr, {});
    std::exit(0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("main ends")) << end;
}

TEST(exit, a_failure_that_no_wait_has_rethrown_is_one_of_the_program) {
  auto end = test::in_process(k_rough, [] {
    weft::spawn([] { throw std::runtime_error("nobody asked"); });
    std::exit(0);
  });
  EXPECT_TRUE(end.exited(EXIT_FAILURE)) << end;
  EXPECT_TRUE(end.printed("nobody asked")) << end;
}

TEST(exit, a_status_of_the_programs_own_is_kept_when_a_task_has_failed) {
  auto end = test::in_process(k_rough, [] {
    weft::spawn([] { throw 1; });
    std::exit(5);
  });
  EXPECT_TRUE(end.exited(5)) << end;
}

TEST(exit, quick_and_hard_exits_do_not_wait) {
  auto end = test::in_process(k_rough, [] {
    weft::spawn([] { weft::this_task::block(); });
    _exit(5);
  });
  EXPECT_TRUE(end.exited(5)) << end;
}

TEST(phase_of_runtime, says_whether_weft_has_started_and_whether_the_process_exits) {
  using weft::layer::phase_of_runtime;
  using weft::layer::runtime_phase;
  auto end = test::in_process(k_rough, [] {
    EXPECT_EQ(phase_of_runtime(), runtime_phase::not_started);
    std::atexit([] { // runs behind Weft's
      std::printf("%s\n", phase_of_runtime() == runtime_phase::over ? "over" : "wrong");
      std::fflush(stdout);
    });
    weft::start();
    EXPECT_EQ(phase_of_runtime(), runtime_phase::running);
    const pid_t child = fork();
    if (child == 0)
      _exit(phase_of_runtime() == runtime_phase::not_started ? 0 : 1);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    weft::spawn([] {
      while (phase_of_runtime() == runtime_phase::running)
        weft::taskyield();
      std::printf("%s\n", phase_of_runtime() == runtime_phase::exits ? "exits" : "wrong");
      std::fflush(stdout);
    });
    std::exit(0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  // The runtime may warn in between of a task that main leaves behind.
  const std::size_t exits = end.output.find("\nexits\n"), over = end.output.find("\nover\n");
  EXPECT_NE(exits, std::string::npos) << end;
  EXPECT_NE(over, std::string::npos) << end;
  EXPECT_LT(exits, over) << end;
}

struct uses_weft_when_destroyed {
  const char *name;
  ~uses_weft_when_destroyed() {
    try {
      int sum = sum_by_tasks();
      std::printf("%s: %s\n", name, sum == 100 ? "ran" : "wrong");
    } catch (const weft::error &e) {
      std::printf("%s: %s\n", name, e.code() == weft::errc::shut_down ? "refused" : "wrong");
    }
    std::fflush(stdout);
  }
};

TEST(exit, a_static_object_made_after_the_start_may_use_weft_in_its_destructor) {
  auto end = test::in_process(k_rough, [] {
    EXPECT_EQ(sum_by_tasks(), 100);
    static uses_weft_when_destroyed later{"later"};
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("later: ran")) << end;
}

TEST(exit, a_static_object_older_than_the_start_gets_an_error_in_its_destructor) {
  auto end = test::in_process(k_rough, [] {
    static uses_weft_when_destroyed earlier{"earlier"};
    EXPECT_EQ(sum_by_tasks(), 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("earlier: refused")) << end;
}

TEST(exit, a_program_that_uses_weft_only_while_it_ends_works) {
  auto end = test::in_process(k_rough, [] { static uses_weft_when_destroyed only{"only"}; });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("only: ran") || end.printed("only: refused")) << end;
}

// Exit status of a child process made by fork() that runs f.
template <class F>
int in_fork(F f) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    alarm(60); // a child that hangs ends by a signal
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(fork, the_child_of_a_process_that_has_used_weft_can_use_it) {
  auto end = test::in_process(k_rough, [] {
    EXPECT_EQ(sum_by_tasks(), 100);
    EXPECT_EQ(in_fork([] { return sum_by_tasks() == 100 && weft::worker_id() == 0; }), 0);
    EXPECT_EQ(sum_by_tasks(), 100);
    EXPECT_EQ(in_fork([] {
                return in_fork([] { return sum_by_tasks() == 100; }) == 0 && sum_by_tasks() == 100;
              }),
              0);
    EXPECT_EQ(sum_by_tasks(), 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, the_child_is_refused_the_open_group_of_its_parent) {
  auto end = test::in_process(k_rough, [] {
    weft::task_group group;
    group.spawn([] {});
    EXPECT_EQ(in_fork([&] {
                try {
                  group.spawn([] {});
                } catch (const weft::error &e) {
                  return e.code() == weft::errc::invalid_argument && sum_by_tasks() == 100;
                }
                return false;
              }),
              0);
    group.spawn([] {});
    group.wait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, groups_of_other_threads_are_forgotten_in_the_child) {
  auto end = test::in_process(k_rough, [] {
    weft::start();
    constexpr int threads = 40; // several in each part of the list of groups
    std::atomic<int> made{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> makers;
    for (int i = 0; i != threads; ++i)
      makers.emplace_back([&] {
        weft::task_group group;
        ++made;
        while (!over)
          usleep(1000);
      });
    while (made != threads)
      usleep(1000);
    weft::task_group own;
    EXPECT_EQ(in_fork([&] {
                std::vector<std::thread> others; // on the stacks of the parent's threads
                for (int i = 0; i != threads; ++i)
                  others.emplace_back([] {
                    volatile char room[50'000];
                    std::memset(const_cast<char *>(room), 0x55, sizeof room);
                    weft::task_group group;
                    group.spawn([] {});
                    group.wait();
                  });
                for (std::thread &other : others)
                  other.join();
                return sum_by_tasks() == 100;
              }),
              0);
    over = true;
    for (std::thread &maker : makers)
      maker.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, waiters_of_the_parent_process_take_nothing_in_the_child) {
  auto end = test::in_process(k_rough, [] {
    weft::counting_semaphore<> units(0);
    weft::shared_mutex lock;
    lock.lock();
    std::atomic<int> entered{0}, let_in{0};
    for (int i = 0; i != 2; ++i)
      weft::spawn([&, i] {
        ++entered;
        i == 0 ? units.acquire() : lock.lock_shared();
        ++let_in;
      });
    while (entered != 2)
      weft::taskyield();
    weft::this_task::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(in_fork([&] {
                units.release();
                lock.unlock();
                return let_in == 0 && units.try_acquire() && !units.try_acquire() &&
                       lock.try_lock() && sum_by_tasks() == 100;
              }),
              0);
    units.release();
    lock.unlock();
    weft::taskwait();
    EXPECT_EQ(let_in, 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, parent_and_child_may_both_start_weft_after_it) {
  auto end = test::in_process(k_rough, [] {
    EXPECT_EQ(in_fork([] { return sum_by_tasks() == 100; }), 0);
    EXPECT_EQ(sum_by_tasks(), 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, a_child_that_does_not_use_weft_ends_normally) {
  auto end = test::in_process(k_rough, [] {
    EXPECT_EQ(sum_by_tasks(), 100);
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      std::exit(3); // runs the exit handlers
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
    EXPECT_EQ(sum_by_tasks(), 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

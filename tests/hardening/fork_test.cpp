// SPDX-License-Identifier: Apache-2.0
// fork() outside of tasks, where the child may use Weft, and inside of tasks, where it may only exec.
#include "hardening/work.hpp"
#include "task/pending.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using test::in_process;
using test::k_rough;
using test::rough;
using test::works;

/// waitpid's status of a child that runs f and exits with what it returns.
template <class F>
int in_fork(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); // a child that hangs ends by a signal
    _exit(f());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

bool exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
bool aborted(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT; }

/// The status of a child that is forked by a task which has already moved or may have, and runs f.
template <class F>
int in_fork_of_task(F f) {
  int status = -1;
  weft::spawn(
      [&] {
        test::dawdle();
        status = in_fork(f);
      },
      weft::label("forker"));
  weft::taskwait();
  return status;
}

const char k_refusal[] = "forked inside of task 'forker'; there it may only exec or _exit";

TEST(fork, of_a_task_may_exec) {
  auto end = in_process(k_rough, [] {
    const int status = in_fork_of_task([] {
      execl("/bin/sh", "sh", "-c", "echo became another program; exit 5", nullptr);
      return 1;
    });
    EXPECT_TRUE(exited(status, 5)) << status;
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("became another program")) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(fork, of_a_task_may_exit) {
  auto end = in_process(k_rough, [] {
    EXPECT_TRUE(exited(in_fork_of_task([] { return 3; }), 3));
    EXPECT_TRUE(exited(in_fork_of_task([]() -> int { std::exit(4); }), 4));
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// A thread of the runtime that is gone in the child must not have been in the middle of something that is done once.
TEST(fork, while_the_threads_of_the_runtime_begin_leaves_the_child_a_runtime) {
  for (int i = 0; i != 30; ++i) {
    auto end = in_process(k_rough, [i] {
      std::thread first([] { weft::this_task::sleep_for(std::chrono::microseconds(1)); });
      for (const auto when = std::chrono::steady_clock::now() + std::chrono::microseconds(20 * i);
           std::chrono::steady_clock::now() < when;)
        ;
      const int status = in_fork([] {
        weft::this_task::sleep_for(std::chrono::microseconds(1));
        return works() ? 0 : 1;
      });
      EXPECT_TRUE(exited(status, 0)) << status;
      first.join();
    });
    EXPECT_TRUE(end.exited(0)) << end;
  }
}

template <class F>
void expect_refusal(F use) {
  auto end = in_process(k_rough, [&] {
    const int status = in_fork_of_task([&] { return use(), 0; });
    EXPECT_TRUE(aborted(status)) << status;
    EXPECT_TRUE(works()) << "the parent has nothing to do with it";
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(k_refusal)) << end;
}

TEST(fork, of_a_task_must_not_spawn) {
  expect_refusal([] { weft::spawn([] {}); });
}
TEST(fork, of_a_task_must_not_wait) {
  expect_refusal([] { weft::taskwait(); });
}
TEST(fork, of_a_task_must_not_suspend) {
  expect_refusal([] { weft::this_task::sleep_for(std::chrono::microseconds(10)); });
}
TEST(fork, of_a_task_must_not_start_weft_on_a_new_thread) {
  expect_refusal([] { std::thread([] { weft::spawn([] {}); }).join(); });
}

void spawn_into_a_group() {
  weft::task_group g;
  g.spawn([] {});
}
void wait_in_a_queue() {
  weft::mutex m;
  m.lock();
  m.lock();
}
void make_a_service() {
  weft::service s("none", weft::poll_point::idle, [](void *) { return false; }, nullptr);
}
void share_a_loop() {
  weft::taskfor(weft::range(4), [](int) {});
}
void spawn_a_loop() {
  weft::taskloop(weft::range(4), [](int) {});
}
void record_a_loop() {
  weft::taskiter(2, [] {});
}
void spawn_a_function() {
  weft::spawn_function([](void *) {}, nullptr);
}
void join_two() {
  weft::join([] {}, [] {});
}

TEST(fork, of_a_task_must_not_use_weft_in_any_way) {
  struct use {
    const char *name;
    void (*f)();
  };
  static constexpr use k_uses[] = {
      {"group", &spawn_into_a_group},
      {"mutex", &wait_in_a_queue},
      {"service", &make_a_service},
      {"taskfor", &share_a_loop},
      {"taskloop", &spawn_a_loop},
      {"taskiter", &record_a_loop},
      {"function", &spawn_a_function},
      {"join", &join_two},
      {"yield", &weft::taskyield},
      {"block", &weft::this_task::block},
      {"unblock", [] { weft::unblock(weft::this_task::self()); }},
      {"events", [] { weft::this_task::increase_events(); }},
      {"release", [] { weft::release(weft::access{&k_uses, weft::access_mode::in}); }},
      {"start", &weft::start},
      {"worker_count", [] { (void)weft::worker_count(); }}};
  auto end = in_process(k_rough, [] {
    for (const use &u : k_uses) {
      const int status = in_fork_of_task([&] { return u.f(), 0; });
      EXPECT_TRUE(aborted(status)) << u.name << ": " << status;
    }
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  std::size_t refused = 0;
  for (std::size_t at = 0; (at = end.output.find(k_refusal, at)) != std::string::npos; ++at)
    ++refused;
  EXPECT_EQ(refused, std::size(k_uses)) << end;
}

TEST(fork, of_a_task_that_forks_again_is_refused_as_well) {
  expect_refusal([] {
    if (!aborted(in_fork([] { return weft::taskyield(), 0; })))
      _exit(1);
    weft::taskyield();
  });
}

TEST(fork, of_a_task_must_not_let_the_task_end) {
  auto end = in_process(k_rough, [] {
    pid_t child = -1;
    std::fflush(nullptr);
    weft::spawn(
        [&] {
          test::dawdle();
          child = fork();
          if (child == 0)
            alarm(60);
        },
        weft::label("forker"));
    weft::taskwait();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(aborted(status)) << status;
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(k_refusal)) << end;
}

TEST(fork, of_a_function_that_is_called_for_a_task_is_refused_as_well) {
  auto end = in_process(k_rough, [] {
    static int status = -1;
    weft::spawn(
        [] {}, weft::label("forker"),
        weft::onready([](void *) { status = in_fork([] { return weft::spawn([] {}), 0; }); },
                      nullptr));
    weft::taskwait();
    EXPECT_TRUE(aborted(status)) << status;
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(k_refusal)) << end;
}

TEST(fork, of_a_branch_may_exec_and_nothing_else) {
  auto end = in_process(k_rough, [] {
    int replaced = -1, used = -1;
    weft::join(
        [&] {
          replaced = in_fork([] {
            execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
            return 1;
          });
          used = in_fork([] { return weft::spawn([] {}), 0; });
        },
        [] {});
    EXPECT_TRUE(exited(replaced, 5)) << replaced;
    EXPECT_TRUE(aborted(used) || exited(used, 0))
        << used; // no thread knows of it after the other branch
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Another worker has the other branch when this one forks; the child returns from its branch.
template <class F>
void expect_join_is_refused(F use) {
  auto end = in_process(rough({{"WEFT_WORKERS", "2"}}), [&] {
    std::atomic<bool> taken{false}, over{false};
    pid_t child = -1;
    std::fflush(nullptr);
    weft::join(
        [&] {
          while (!taken)
            std::this_thread::yield();
          child = fork();
          if (child == 0) {
            alarm(60);
            use();
          }
          over = true;
        },
        [&] {
          taken = true;
          while (!over)
            std::this_thread::yield();
        });
    if (child == 0)
      _exit(9);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(aborted(status)) << status;
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("join() returns in a process that was forked inside of it")) << end;
}

TEST(fork, of_a_branch_whose_other_branch_was_taken_ends_where_they_join) {
  expect_join_is_refused([] {});
}
TEST(fork, of_a_branch_whose_other_branch_was_taken_ends_where_they_join_although_it_uses_weft) {
  expect_join_is_refused([] { EXPECT_TRUE(works()); });
}

TEST(fork, what_waits_in_the_parent_goes_on_there_only) {
  auto end = in_process(k_rough, [] {
    std::atomic<int> went_on{0};
    weft::task_ref blocked, held;
    test::gate known, announced;
    weft::spawn([&] {
      blocked = weft::this_task::self();
      known.open();
      weft::this_task::block();
      ++went_on;
    });
    weft::spawn([&] {
      weft::this_task::increase_events();
      held = weft::this_task::self();
      announced.open();
    });
    EXPECT_TRUE(known.pass() && announced.pass());
    const auto refused = [](auto call) {
      try {
        call();
      } catch (const weft::error &e) {
        return e.code() == weft::errc::invalid_argument;
      }
      return false;
    };
    const int status = in_fork([&] {
      if (!refused([&] { weft::unblock(blocked); }))
        return 1;
      if (!refused([&] { weft::decrease_events(held); }))
        return 2;
      return works() && went_on == 0 ? 0 : 3;
    });
    EXPECT_TRUE(exited(status, 0)) << status;
    weft::unblock(blocked);
    weft::decrease_events(held);
    weft::taskwait();
    EXPECT_EQ(went_on, 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

int pending_tasks() {
  int n = 0;
  weft::rt::for_each_pending([](weft::rt::task &, void *count) { ++*static_cast<int *>(count); },
                             &n);
  return n;
}

TEST(fork, what_events_hold_in_the_parent_holds_nothing_in_the_child) {
  auto end = in_process(k_rough, [] {
    std::atomic<int> announced{0};
    weft::task_ref held[3];
    for (weft::task_ref &h : held)
      weft::spawn([&] {
        weft::this_task::increase_events();
        h = weft::this_task::self();
        ++announced;
      });
    EXPECT_TRUE(test::eventually([&] { return announced == 3 && pending_tasks() == 3; }));
    const int status = in_fork([] {
      if (pending_tasks() != 0)
        return 1;
      weft::task_ref own;
      std::atomic<bool> known{false};
      weft::spawn([&] {
        weft::this_task::increase_events();
        own = weft::this_task::self();
        known = true;
      });
      if (!test::eventually([&] { return known && pending_tasks() == 1; }))
        return 2;
      weft::decrease_events(own);
      weft::taskwait();
      return pending_tasks() == 0 && works() ? 0 : 3;
    });
    EXPECT_TRUE(exited(status, 0)) << status;
    EXPECT_EQ(pending_tasks(), 3);
    for (weft::task_ref &h : held)
      weft::decrease_events(h);
    weft::taskwait();
    EXPECT_EQ(pending_tasks(), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, a_mutex_that_is_held_is_given_up_in_the_child_without_those_who_wait_in_the_parent) {
  auto end = in_process(k_rough, [] {
    weft::mutex m;
    std::atomic<int> asked{0}, entered{0};
    m.lock();
    for (int i = 0; i != 3; ++i)
      weft::spawn([&] {
        ++asked;
        const std::lock_guard guard(m);
        ++entered;
      });
    EXPECT_TRUE(test::eventually([&] { return asked == 3; }));
    test::dawdle();
    const int status = in_fork([&] {
      m.unlock();
      m.lock();
      m.unlock();
      return works() && entered == 0 ? 0 : 1;
    });
    EXPECT_TRUE(exited(status, 0)) << status;
    m.unlock();
    weft::taskwait();
    EXPECT_EQ(entered, 3);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, of_the_main_task_may_use_weft_and_exec_and_fork_again) {
  auto end = in_process(k_rough, [] {
    EXPECT_TRUE(works());
    EXPECT_TRUE(exited(in_fork([] { return works() ? 6 : 1; }), 6));
    EXPECT_TRUE(exited(in_fork([] {
                         execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
                         return 1;
                       }),
                       7));
    EXPECT_TRUE(exited(in_fork([] {
                         return works() && exited(in_fork([] { return works() ? 8 : 1; }), 8) ? 9
                                                                                              : 1;
                       }),
                       9));
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, of_a_thread_of_the_user_may_use_weft) {
  auto end = in_process(k_rough, [] {
    EXPECT_TRUE(works());
    std::thread([] {
      EXPECT_TRUE(works());
      EXPECT_TRUE(exited(in_fork([] { return works() ? 6 : 1; }), 6));
    }).join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, what_was_spawned_before_is_left_to_the_parent) {
  auto end = in_process(k_rough, [] {
    test::gate open;
    weft::handle<int> h = weft::spawn([&] { return open.pass() ? 42 : 0; });
    std::optional<weft::task_group> group;
    group.emplace();
    group->spawn([&] { (void)open.pass(); });
    const int status = in_fork([&] {
      try {
        h.get();
        return 1;
      } catch (const weft::error &e) {
        if (e.code() != weft::errc::invalid_argument)
          return 2;
      }
      try {
        group->wait();
        return 3;
      } catch (const weft::error &e) {
        if (e.code() != weft::errc::invalid_argument)
          return 4;
      }
      group.reset(); // its destructor has nothing to wait for
      return works() ? 0 : 5;
    });
    EXPECT_TRUE(exited(status, 0)) << status;
    open.open();
    EXPECT_EQ(h.get(), 42);
    group.reset();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(fork, finds_no_lock_taken_however_busy_the_other_threads_are) {
  auto end = in_process(k_rough, [] {
    std::atomic<bool> stop{false};
    std::vector<std::thread> busy;
    for (int t = 0; t != 2; ++t)
      busy.emplace_back([&] {
        while (!stop) {
          weft::service s("none", weft::poll_point::idle, [](void *) { return false; }, nullptr);
          for (int i = 0; i != 200; ++i)
            weft::spawn([] { weft::critical("shared", [] { weft::taskyield(); }); });
          weft::taskwait();
        }
      });
    for (int i = 0; i != 20; ++i) {
      const int status = in_fork([] {
        weft::service s("child's", weft::poll_point::idle, [](void *) { return false; }, nullptr);
        int x = 0;
        weft::spawn([&] { weft::critical("shared", [&] { ++x; }); });
        weft::taskwait();
        return works() && x == 1 ? 0 : 1;
      });
      EXPECT_TRUE(exited(status, 0)) << status;
    }
    stop = true;
    for (auto &t : busy)
      t.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

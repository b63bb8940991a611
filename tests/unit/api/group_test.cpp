// SPDX-License-Identifier: Apache-2.0
// task_group: deep waiting, the three ways with exceptions, cancellation.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::dawdle;
using weft::exception_policy;

TEST(group, wait_returns_when_all_tasks_are_complete) {
  weft::task_group group;
  std::atomic<int> ran{0};
  for (int i = 0; i != 100; ++i)
    group.spawn([&] { ++ran; });
  group.wait();
  EXPECT_EQ(ran, 100);
}

TEST(group, wait_without_tasks_returns) {
  weft::task_group group;
  group.wait();
  group.wait();
  EXPECT_FALSE(group.cancelled());
}

TEST(group, wait_waits_for_descendants_outside_of_the_group) {
  weft::task_group group;
  bool done = false;
  group.spawn([&] { weft::spawn([&] { weft::spawn([&] { dawdle(), done = true; }); }); });
  group.wait();
  EXPECT_TRUE(done);
}

TEST(group, wait_does_not_wait_for_children_outside_of_the_group) {
  test::gate waited;
  bool passed = false, in_group = false;
  weft::spawn([&] { passed = waited.pass(); });
  weft::task_group group;
  group.spawn([&] { dawdle(), in_group = true; });
  group.wait();
  EXPECT_TRUE(in_group);
  waited.open();
  weft::taskwait();
  EXPECT_TRUE(passed);
}

TEST(group, the_destructor_waits) {
  bool done = false;
  {
    weft::task_group group;
    group.spawn([&] { dawdle(), done = true; });
  }
  EXPECT_TRUE(done);
}

TEST(group, taskwait_leaves_the_tasks_of_a_group_to_the_group) {
  weft::task_group group;
  test::gate gate;
  bool passed = false;
  group.spawn([&] { passed = gate.pass(); });
  weft::taskwait();
  gate.open(); // not reached if taskwait had waited for the group
  group.wait();
  EXPECT_TRUE(passed);
}

TEST(group, accesses_order_tasks_across_groups_of_one_parent) {
  weft::task_group a, b;
  int x = 0;
  a.spawn([&] { dawdle(), x = 1; }, weft::out(x));
  b.spawn([&] { dawdle(), x = x * 10 + 2; }, weft::inout(x));
  weft::spawn([&] { x = x * 10 + 3; }, weft::inout(x));
  weft::taskwait();
  b.wait();
  a.wait();
  EXPECT_EQ(x, 123);
}

TEST(group, spawn_returns_a_handle_of_the_result) {
  weft::task_group group;
  auto h = group.spawn([] { return 6 * 7; });
  group.wait();
  EXPECT_TRUE(h.ready());
  EXPECT_EQ(h.get(), 42);
}

TEST(group, its_tasks_may_spawn_into_it) {
  weft::task_group group;
  std::atomic<int> ran{0};
  struct tree {
    weft::task_group &group;
    std::atomic<int> &ran;
    void grow(int depth) const {
      ++ran;
      for (int i = 0; depth && i != 3; ++i)
        group.spawn([t = *this, depth] { t.grow(depth - 1); });
    }
  } t{group, ran};
  group.spawn([&] { t.grow(5); });
  group.wait();
  EXPECT_EQ(ran, 364);
}

TEST(group, groups_may_be_nested) {
  weft::task_group outer;
  std::atomic<int> sum{0};
  for (int i = 0; i != 10; ++i)
    outer.spawn([&] {
      weft::task_group inner;
      int local = 0;
      for (int k = 0; k != 10; ++k)
        inner.spawn([&] { ++local; }, weft::inout(local));
      inner.wait();
      sum += local;
    });
  outer.wait();
  EXPECT_EQ(sum, 100);
}

TEST(group, many_groups_may_live_one_after_the_other) {
  std::atomic<int> ran{0};
  const int n = test::scaled(500);
  for (int i = 0; i != n; ++i) {
    weft::task_group group;
    group.spawn([&] { ++ran; });
    group.spawn([&] { ++ran; });
    if (i % 2)
      group.wait();
  }
  EXPECT_EQ(ran, 2 * n);
}

TEST(group, the_first_exception_is_rethrown_and_cancels) {
  weft::task_group group(exception_policy::first_cancels);
  int x = 0;
  std::atomic<int> later{0};
  group.spawn(
      [&]() {
        dawdle();
        throw std::runtime_error("the first");
      },
      weft::inout(x));
  for (int i = 0; i != 50; ++i)
    group.spawn([&] { ++later; }, weft::inout(x)); // all depend on the one that throws
  try {
    group.wait();
    FAIL() << "wait() did not throw";
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(), "the first");
  }
  EXPECT_EQ(later, 0);
}

TEST(group, skipped_tasks_release_their_accesses_and_destroy_their_callables) {
  int x = 0, after = 0;
  auto value = std::make_shared<int>(1);
  {
    weft::task_group group(exception_policy::first_cancels);
    group.spawn(
        [&] {
          dawdle();
          throw 1;
        },
        weft::inout(x));
    for (int i = 0; i != 10; ++i)
      group.spawn([&x, value] { x = 99; }, weft::inout(x));
    weft::spawn([&] { after = x + 1; }, weft::in(x)); // not of the group
    EXPECT_THROW(group.wait(), int);
  }
  weft::taskwait();
  EXPECT_EQ(after, 1);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(group, can_be_used_again_after_an_exception) {
  weft::task_group group;
  for (int i = 0; i != 20; ++i) {
    group.spawn([i] { throw i; });
    try {
      group.wait();
      ADD_FAILURE() << "wait() did not throw";
    } catch (int v) {
      EXPECT_EQ(v, i);
    }
    EXPECT_FALSE(group.cancelled());
    int ran = 0;
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 1);
  }
}

TEST(group, collect_all_runs_everything_and_delivers_every_exception) {
  weft::task_group group(exception_policy::collect_all);
  std::atomic<int> ran{0};
  for (int i = 0; i != 30; ++i)
    group.spawn([&ran, i] {
      ++ran;
      if (i % 3 == 0)
        throw i;
    });
  std::set<int> thrown;
  try {
    group.wait();
    ADD_FAILURE() << "wait() did not throw";
  } catch (const weft::exception_list &list) {
    EXPECT_EQ(list.size(), 10u);
    EXPECT_EQ(list.end() - list.begin(), 10);
    EXPECT_NE(std::string(list.what()), "");
    for (const std::exception_ptr &e : list)
      try {
        std::rethrow_exception(e);
      } catch (int v) {
        thrown.insert(v);
      }
    weft::exception_list copy = list;
    EXPECT_EQ(copy.size(), 10u);
    EXPECT_EQ(copy[3], list[3]);
  }
  EXPECT_EQ(ran, 30);
  EXPECT_EQ(thrown, (std::set<int>{0, 3, 6, 9, 12, 15, 18, 21, 24, 27}));
  group.wait(); // nothing is delivered twice
}

TEST(group, terminate_ends_the_program_and_names_the_task) {
  auto end = test::in_process({}, [] {
    weft::task_group group(exception_policy::terminate);
    group.spawn([] { throw std::runtime_error("out of cheese"); }, weft::label("the_guilty"));
    group.wait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("the_guilty")) << end;
  EXPECT_TRUE(end.printed("out of cheese")) << end;
}

TEST(group, the_setting_chooses_the_policy_of_a_group_that_names_none) {
  auto end = test::in_process({{"WEFT_GROUP_EXCEPTIONS", "collect_all"}}, [] {
    weft::task_group group;
    for (int i = 0; i != 4; ++i)
      group.spawn([] { throw 1; });
    try {
      group.wait();
      ADD_FAILURE() << "wait() did not throw";
    } catch (const weft::exception_list &list) {
      EXPECT_EQ(list.size(), 4u);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(group, an_exception_that_nobody_waits_for_is_reported) {
  auto end = test::in_process({}, [] {
    weft::task_group group;
    group.spawn([] { throw std::runtime_error("unheard of"); }, weft::label("unlucky"));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("unheard of")) << end;
}

TEST(group, an_exception_of_a_nested_task_reaches_the_group) {
  weft::task_group group;
  group.spawn([] { weft::spawn([] { weft::spawn([] { throw 17; }); }); });
  try {
    group.wait();
    FAIL() << "wait() did not throw";
  } catch (int v) {
    EXPECT_EQ(v, 17);
  }
}

TEST(group, an_exception_of_a_group_is_not_rethrown_by_taskwait) {
  weft::task_group group;
  group.spawn([] { throw 1; });
  EXPECT_NO_THROW(weft::taskwait());
  EXPECT_THROW(group.wait(), int);
}

TEST(group, cancel_skips_tasks_that_have_not_started) {
  weft::task_group group;
  int x = 0;
  std::atomic<int> ran{0};
  test::gate started, go;
  bool passed = false, saw = false;
  group.spawn(
      [&] {
        started.open();
        passed = go.pass();
        saw = weft::this_task::cancelled();
      },
      weft::inout(x));
  for (int i = 0; i != 20; ++i)
    group.spawn([&] { ++ran; }, weft::inout(x));
  EXPECT_TRUE(started.pass());
  group.cancel();
  EXPECT_TRUE(group.cancelled());
  go.open();
  group.wait(); // a cancelled group without exceptions throws nothing
  EXPECT_TRUE(passed);
  EXPECT_TRUE(saw);
  EXPECT_EQ(ran, 0);
  EXPECT_FALSE(group.cancelled());
  group.spawn([&] { ++ran; });
  group.wait();
  EXPECT_EQ(ran, 1);
}

TEST(group, tasks_spawned_after_cancel_are_skipped) {
  weft::task_group group;
  std::atomic<int> ran{0};
  group.cancel();
  for (int i = 0; i != 5; ++i)
    group.spawn([&] { ++ran; });
  group.wait();
  EXPECT_EQ(ran, 0);
}

TEST(group, cancel_may_come_from_a_task_of_the_group_or_from_a_thread) {
  weft::task_group group;
  std::atomic<int> ran{0};
  int x = 0;
  group.spawn([&] { group.cancel(); }, weft::inout(x));
  group.spawn([&] { ++ran; }, weft::inout(x));
  group.wait();
  EXPECT_EQ(ran, 0);

  bool stopped = false;
  group.spawn([&] { stopped = test::eventually([] { return weft::this_task::cancelled(); }); });
  std::thread canceller([&] { group.cancel(); });
  group.wait();
  canceller.join();
  EXPECT_TRUE(stopped || !group.cancelled()); // the task may have been skipped
}

TEST(group, a_stop_token_tells_running_tasks) {
  weft::task_group group;
  std::stop_token token = group.stop_token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  test::gate started;
  bool stopped = false;
  group.spawn([&, token] {
    started.open();
    stopped = test::eventually([&] { return token.stop_requested(); });
  });
  EXPECT_TRUE(started.pass());
  group.cancel();
  group.wait();
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(token.stop_requested());
  EXPECT_FALSE(group.stop_token().stop_requested()) << "wait() makes the group usable again";
}

TEST(group, a_token_of_a_cancelled_group_is_stopped_from_the_start) {
  weft::task_group group;
  group.cancel();
  EXPECT_TRUE(group.stop_token().stop_requested());
  group.wait();
  EXPECT_FALSE(group.stop_token().stop_requested());
}

TEST(group, other_threads_cancel_while_the_maker_makes_it_usable_again) {
  weft::task_group group;
  std::atomic<bool> ends{false};
  std::atomic<long> cancelled{0}, told{0};
  std::thread teller([&] {
    while (!ends) {
      const std::stop_callback tells(group.stop_token(), [&] { ++told; });
      group.cancel();
    }
  });
  std::thread canceller([&] { // holds no token: the source's memory goes with the source
    while (!ends) {
      group.cancel();
      ++cancelled;
    }
  });
  EXPECT_TRUE(test::eventually([&] {
    for (int i = 0; i != 1000; ++i)
      group.wait();
    return told > 1000 && cancelled > 300'000;
  }));
  ends = true;
  teller.join();
  canceller.join();
  group.wait();
  EXPECT_FALSE(group.cancelled());
  EXPECT_FALSE(group.stop_token().stop_requested());
}

TEST(group, an_exception_signals_the_stop_token) {
  weft::task_group group(exception_policy::first_cancels);
  std::stop_token token = group.stop_token();
  test::gate started;
  bool stopped = false;
  group.spawn([&, token] {
    started.open();
    stopped = test::eventually([&] { return token.stop_requested(); });
  });
  EXPECT_TRUE(started.pass());
  group.spawn([] { throw 1; });
  EXPECT_THROW(group.wait(), int);
  EXPECT_TRUE(stopped);
}

TEST(group, an_external_thread_may_own_one) {
  std::vector<std::thread> threads;
  std::atomic<int> ran{0}, caught{0};
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&] {
      weft::task_group group(exception_policy::collect_all);
      for (int i = 0; i != 20; ++i)
        group.spawn([&ran, i] {
          ++ran;
          if (i % 10 == 0)
            throw i;
        });
      try {
        group.wait();
      } catch (const weft::exception_list &list) {
        caught += static_cast<int>(list.size());
      }
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(ran, 80);
  EXPECT_EQ(caught, 8);
}

TEST(group, cancelled_is_false_outside_of_a_cancelled_group) {
  EXPECT_FALSE(weft::this_task::cancelled());
  bool inside = true;
  weft::task_group group;
  group.spawn([&] { inside = weft::this_task::cancelled(); });
  group.wait();
  EXPECT_FALSE(inside);
}

TEST(group, may_be_destroyed_by_another_task_when_its_tasks_are_complete) {
  std::unique_ptr<weft::task_group> group;
  int x = 0;
  weft::spawn([&] {
    group = std::make_unique<weft::task_group>();
    group->spawn([&] { ++x; });
    group->wait();
  });
  weft::taskwait();
  weft::spawn([&] { group.reset(); });
  weft::taskwait();
  EXPECT_EQ(x, 1);
}

TEST(group, destroyed_by_another_task_while_its_tasks_run_ends_the_program_by_name) {
  auto end = test::in_process({}, [] {
    auto group = std::make_unique<weft::task_group>();
    weft::task_ref blocked;
    test::gate there;
    group->spawn([&] {
      blocked = weft::this_task::self();
      there.open();
      weft::this_task::block();
    });
    weft::spawn(
        [&] {
          EXPECT_TRUE(there.pass());
          group.reset();
        },
        weft::label("other"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("a task group is destroyed by task 'other', which did not make it"))
      << end;
}

TEST(group, destroyed_by_a_thread_without_tasks_while_its_tasks_run_ends_the_program) {
  auto end = test::in_process({}, [] {
    auto group = std::make_unique<weft::task_group>();
    group->spawn([] { weft::this_task::block(); });
    std::thread([&] { group.reset(); }).join();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("a task group is destroyed by a thread of no task, which did not make it"))
      << end;
}

/// Is a task that ends some time after it was spawned.
void ends_later() {
  weft::this_task::sleep_for(std::chrono::milliseconds(20));
  std::fputs("ran\n", stderr);
}

TEST(thread_groups, are_waited_for_by_exit) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    std::atexit([] { std::fputs("ends\n", stderr); }); // called after what Weft does
    std::unique_ptr<weft::task_group> groups[5];
    for (auto &group : groups)
      group = std::make_unique<weft::task_group>();
    for (const int i : {2, 0, 4}) // one between others, the oldest, and the newest
      groups[i].reset();
    for (const int i : {3, 1})
      groups[i]->spawn(&ends_later);
    std::exit(0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const std::size_t first = end.output.find("ran\n"), second = end.output.find("ran\n", first + 1);
  ASSERT_NE(second, std::string::npos) << end;
  EXPECT_GT(end.output.find("ends\n"), second) << end;
}

void leave_failures(weft::exception_policy policy) {
  weft::task_group complete(policy), open(policy), quiet(policy);
  complete.spawn([] { throw std::runtime_error("of one that is complete"); });
  weft::this_task::sleep_for(std::chrono::milliseconds(20));
  open.spawn([] { throw std::runtime_error("the first of one that is open"); });
  open.spawn([] { throw std::runtime_error("the second of one that is open"); });
  quiet.spawn([] {});
  std::exit(0);
}

TEST(thread_groups, report_at_exit_what_their_tasks_have_thrown) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}},
                              [] { leave_failures(weft::exception_policy::collect_all); });
  EXPECT_TRUE(end.exited(EXIT_FAILURE)) << end;
  for (const char *said : {"of one that is complete", "the first of one", "the second of one"})
    EXPECT_TRUE(end.printed(said)) << end;
}

TEST(thread_groups, report_at_exit_the_first_exception_by_default) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}},
                              [] { leave_failures(weft::exception_policy::first_cancels); });
  EXPECT_TRUE(end.exited(EXIT_FAILURE)) << end;
  EXPECT_TRUE(end.printed("of one that is complete")) << end;
  EXPECT_NE(end.printed("the first of one"), end.printed("the second of one")) << end;
}

TEST(thread_groups, of_other_threads_are_not_waited_for_by_exit) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    static std::atomic<bool> begun{false};
    std::thread([] {
      static weft::task_group *const group = new weft::task_group;
      group->spawn([] { weft::this_task::block(); }); // for ever
      begun = true;
    }).detach();
    while (!begun)
      std::this_thread::yield();
    std::exit(0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(thread_groups, are_waited_for_by_shutdown) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    int ran = 0;
    weft::task_group group;
    group.spawn([&] {
      weft::this_task::sleep_for(std::chrono::milliseconds(1));
      ++ran;
    });
    weft::shutdown();
    EXPECT_EQ(ran, 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(thread_groups, that_outlive_weft_end_the_program_with_a_message) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    static std::atomic<weft::task_group *> group{nullptr};
    std::thread([] {
      auto *const made = new weft::task_group;
      made->spawn([] { weft::this_task::block(); }); // for ever
      group = made;
      for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
    }).detach();
    while (!group)
      std::this_thread::yield();
    weft::shutdown();
    delete group.load();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("a task group outlives Weft")) << end;
}

TEST(group, may_be_destroyed_by_a_thread_without_tasks_when_its_tasks_are_complete) {
  int ran = 0;
  auto group = std::make_unique<weft::task_group>();
  group->spawn([&] { ++ran; });
  group->wait();
  std::thread([&] { group.reset(); }).join();
  EXPECT_EQ(ran, 1);
}

} // namespace

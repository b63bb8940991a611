// SPDX-License-Identifier: Apache-2.0
// Which workers must be woken, one way at a time, where nothing else would wake them: no deadline,
// no spare, no other work.
#include "support/case_process.hpp"
#include "support/soon.hpp"
#include "worker/runtime.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace weft::rt;
using test::soon;

test::environment alone() {
  return {{"WEFT_WORKERS", "2"},
          {"WEFT_SCHED_POLICY", "stealing"},
          {"WEFT_WATCH_MAX_SPARES", "0"},
          {"WEFT_WATCH_HANG", "off"}};
}

/// The worker, of two the other one, is in the eventcount.
bool is_asleep(unsigned slot = 1) {
  return soon([slot] { return the_runtime().idle.announced(slot); });
}

TEST(wakeup, a_task_wakes_a_sleeper) {
  auto end = test::in_process(alone(), [] {
    weft::start();
    for (int i = 0; i != 20; ++i) {
      ASSERT_TRUE(is_asleep());
      std::atomic<bool> ran{false};
      weft::spawn([&] { ran = true; });
      EXPECT_TRUE(soon([&] { return ran.load(); }));
      weft::taskwait();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wakeup, the_stack_of_a_thread_wakes_that_thread) {
  auto end = test::in_process(alone(), [] {
    const weft::task_ref main = weft::this_task::self();
    for (int i = 0; i != 20; ++i) {
      std::atomic<bool> begun{false};
      weft::spawn([&] {
        begun = true;
        EXPECT_TRUE(is_asleep(0));
        weft::unblock(main);
      });
      ASSERT_TRUE(soon([&] { return begun.load(); })); // on the other worker
      weft::this_task::block();
      weft::taskwait();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wakeup, a_branch_of_a_join_wakes_a_sleeper) {
  auto end = test::in_process(alone(), [] {
    weft::start();
    for (int i = 0; i != 20; ++i) {
      ASSERT_TRUE(is_asleep());
      std::atomic<bool> ran{false};
      weft::join([&] { EXPECT_TRUE(soon([&] { return ran.load(); })); }, [&] { ran = true; });
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wakeup, a_message_wakes_a_sleeper) {
  auto settings = alone();
  settings.insert(settings.end(),
                  {{"WEFT_MANAGE_MODE", "distributed"}, {"WEFT_MANAGE_BACKLOG", "0"}});
  auto end = test::in_process(settings, [] {
    weft::start();
    int x = 0;
    for (int i = 0; i != 20; ++i) {
      ASSERT_TRUE(is_asleep());
      std::atomic<bool> ran{false};
      weft::spawn([&] { ran = true; },
                  weft::inout(x)); // whether it may run is for the other one to find out
      EXPECT_TRUE(soon([&] { return ran.load(); }));
      weft::taskwait();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wakeup, a_function_of_a_set_wakes_its_worker) {
  auto end = test::in_process(alone(), [] {
    weft::start();
    weft::function_options options;
    options.on = weft::worker_set::of_workers({1});
    for (int i = 0; i != 20; ++i) {
      ASSERT_TRUE(is_asleep());
      std::atomic<bool> ran{false};
      weft::spawn_function([](void *p) { *static_cast<std::atomic<bool> *>(p) = true; }, &ran,
                           nullptr, nullptr, options);
      EXPECT_TRUE(soon([&] { return ran.load(); }));
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Called on a thread that is not the timer's.
bool note_worker(void *called) {
  worker *w = this_worker_or_null();
  if (w && !w->keeps_time.load())
    static_cast<std::atomic<bool> *>(called)->store(true);
  return false;
}

TEST(wakeup, a_service_that_comes_is_called_by_a_worker_that_slept) {
  auto end = test::in_process(alone(), [] {
    weft::start();
    ASSERT_TRUE(is_asleep());
    std::atomic<bool> called{false};
    weft::service s("late", weft::poll_point::idle, &note_worker, &called);
    EXPECT_TRUE(soon([&] { return called.load(); }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// The worker runs a child of the main task, begins another one which blocks, and goes on with a frame that lasts until the main task
/// has waited for both.
TEST(wakeup, a_parent_is_told_of_a_child_before_its_worker_goes_on_with_a_frame) {
  auto end = test::in_process(alone(), [] {
    int x = 0;
    std::atomic<weft::detail::task *> frame{nullptr}, child{nullptr};
    std::atomic<bool> spawned{false}, blocks{false}, waited{false};
    weft::task_group group;
    group.spawn([&] {
      frame = weft::this_task::self().get();
      weft::this_task::block();
      weft::unblock(weft::task_ref(child));
      blocks = true;
      EXPECT_TRUE(soon([&] { return waited.load(); }));
    });
    ASSERT_TRUE(soon([&] { return frame && is_asleep(); }));
    weft::spawn([&] { EXPECT_TRUE(soon([&] { return spawned.load(); })); }, weft::out(x));
    weft::spawn(
        [&] { // follows at once, on the same worker
          child = weft::this_task::self().get();
          weft::unblock(weft::task_ref(frame));
          weft::this_task::block();
        },
        weft::in(x));
    spawned = true;
    ASSERT_TRUE(soon([&] { return blocks.load(); }));
    weft::taskwait();
    waited = true;
    group.wait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Polling services: called at their place, never twice at once, never after the destructor.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace {

struct poller {
  std::atomic<int> calls{0}, inside{0}, overlaps{0};
  bool busy = false;
  static bool call(void *context) {
    auto &self = *static_cast<poller *>(context);
    self.overlaps += self.inside++ != 0;
    ++self.calls;
    for (int i = 0; i != 100; ++i)
      self.overlaps += self.inside != 1;
    --self.inside;
    return self.busy;
  }
};

TEST(service, an_idle_service_is_called_while_a_task_waits) {
  poller p;
  weft::service s("test", weft::place::idle, &poller::call, &p);
  bool called = false;
  weft::spawn([&] { called = test::eventually([&] { return p.calls > 3; }); });
  weft::taskwait();
  EXPECT_TRUE(called);
  EXPECT_EQ(p.overlaps, 0);
}

TEST(service, a_timer_service_is_called_beside_running_tasks) {
  poller p;
  weft::service s("test", weft::place::timer, &poller::call, &p);
  bool called = false;
  weft::spawn([&] { // keeps its worker
    for (auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
         !called && std::chrono::steady_clock::now() < end;)
      called = p.calls > 3;
  });
  weft::taskwait();
  EXPECT_TRUE(called);
  EXPECT_EQ(p.overlaps, 0);
}

TEST(service, a_timer_service_is_called_while_nothing_runs) {
  poller p;
  weft::service s("test", weft::place::timer, &poller::call, &p);
  EXPECT_TRUE(test::eventually([&] { return p.calls > 3; }));
}

TEST(service, an_idle_service_is_called_while_all_workers_sleep) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "the only worker is this thread";
  poller p;
  weft::service s("test", weft::place::idle, &poller::call, &p);
  for (int i = 0; i != 600 && p.calls <= 3; ++i) // the main thread sleeps in the kernel, not as a task
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_GT(p.calls, 3);
  EXPECT_EQ(p.overlaps, 0);
}

TEST(service, is_never_called_after_its_destructor) {
  for (auto where : {weft::place::idle, weft::place::timer})
    for (int i = 0; i != test::scaled(50, 5); ++i) {
      auto p = std::make_unique<poller>();
      p->busy = i % 2;
      {
        weft::service s("test", where, &poller::call, p.get());
        test::dawdle();
      }
      int calls = p->calls;
      EXPECT_EQ(p->inside, 0);
      test::dawdle();
      EXPECT_EQ(p->calls, calls);
    }
}

TEST(service, may_be_made_and_ended_by_many_tasks_and_threads) {
  std::atomic<int> overlaps{0};
  auto work = [&] {
    for (int i = 0; i != 20; ++i) {
      poller p;
      {
        weft::service a("a", weft::place::idle, &poller::call, &p);
        weft::this_task::sleep_for(std::chrono::microseconds(100));
      }
      overlaps += p.overlaps;
    }
  };
  std::thread thread(work);
  for (int t = 0; t != 8; ++t)
    weft::spawn(work);
  weft::taskwait();
  thread.join();
  EXPECT_EQ(overlaps, 0);
}

struct completer { // what a communication library would do: finds out by polling that a task can go on
  std::atomic<weft::detail::task *> waiting{nullptr};
  static bool call(void *context) {
    auto *task = static_cast<completer *>(context)->waiting.exchange(nullptr);
    if (task)
      weft::unblock(weft::task_ref(task));
    return task != nullptr;
  }
};

TEST(service, may_unblock_a_task) {
  for (auto where : {weft::place::idle, weft::place::timer}) {
    completer c;
    weft::service s("completer", where, &completer::call, &c);
    int rounds = 0;
    weft::spawn([&] {
      for (; rounds != 50; ++rounds) {
        c.waiting = weft::this_task::self().get();
        weft::this_task::block();
      }
    });
    weft::taskwait();
    EXPECT_EQ(rounds, 50);
  }
}

} // namespace

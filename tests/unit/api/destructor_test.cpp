// SPDX-License-Identifier: Apache-2.0
// Calls in the destructor of a task's callable: it runs as the task, after its body, accesses and children.
#include "support/case_process.hpp"

#include <weft/c/task.h>
#include <weft/weft.hpp>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <utility>

namespace {

/// A callable whose destructor calls a function, unless it was moved from.
template <class Body>
class calls_at_its_end {
 public:
  calls_at_its_end(Body body, std::function<void()> last)
      : m_body(std::move(body)), m_last(std::move(last)) {}
  calls_at_its_end(calls_at_its_end &&other) noexcept
      : m_body(std::move(other.m_body)), m_last(std::exchange(other.m_last, nullptr)) {}
  calls_at_its_end(const calls_at_its_end &) = delete;
  calls_at_its_end &operator=(const calls_at_its_end &) = delete;
  ~calls_at_its_end() {
    if (m_last)
      m_last();
  }
  void operator()() { m_body(); }

 private:
  Body m_body;
  std::function<void()> m_last;
};

constexpr int k_ways = 7;

/// Ends tasks of every kind, one of each; `last` is called k_ways times.
void end_tasks_of_all_kinds(const std::function<void()> &last) {
  const auto idle = [] {};
  const auto leaves_a_child = [] { weft::spawn([] { weft::taskyield(); }); };
  int x = 0, y = 0;
  weft::spawn(calls_at_its_end(idle, last), weft::label("without accesses"));
  weft::spawn(calls_at_its_end(leaves_a_child, last), weft::label("with a child"));
  weft::spawn(calls_at_its_end(leaves_a_child, last), weft::inout(x), weft::inout(y), weft::wait,
              weft::label("with accesses"));
  weft::taskwait();
  weft::task_group g;
  g.spawn(calls_at_its_end(idle, last), weft::inout(x));
  g.wait();
  weft::spawn(calls_at_its_end(idle, last), weft::tracked).get();
  weft::spawn([&] { weft::spawn(calls_at_its_end(idle, last)); }, weft::final());
  weft::taskiter(3, [&] { weft::spawn(calls_at_its_end(idle, last)); });
  weft::taskwait();
}

using code = weft::errc;

template <class F>
code refused(F f) {
  try {
    f();
  } catch (const weft::error &e) {
    return e.code();
  }
  return code{};
}

class destructor : public testing::TestWithParam<const char *> {
 protected:
  /// The case, on one worker and on four.
  template <class F>
  void in_processes(F f) {
    for (const char *workers : {"1", "4"}) {
      test::environment all{{"WEFT_WORKERS", workers},
                            {"WEFT_MANAGE_MODE", GetParam()},
                            {"WEFT_MANAGE_BACKLOG", "0"}};
      auto end = test::in_process(all, f);
      EXPECT_TRUE(end.exited(0)) << workers << " workers: " << end;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(modes, destructor,
                         testing::Values("direct", "distributed", "central", "hybrid"),
                         [](const auto &p) { return std::string(p.param); });

TEST_P(destructor, spawns_children_of_its_task_that_the_parents_wait_is_for) {
  in_processes([] {
    std::atomic<int> spawned{0};
    end_tasks_of_all_kinds([&] {
      weft::spawn([&] {
        weft::taskyield();
        weft::spawn([&] { ++spawned; });
      });
    });
    EXPECT_EQ(spawned, k_ways);
  });
}

TEST_P(destructor, calls_what_a_task_may_call) {
  in_processes([] {
    std::atomic<int> done{0};
    weft::task_group outer;
    weft::mutex m;
    static weft::task_local<int> local(3);
    end_tasks_of_all_kinds([&] {
      weft::spawn([&] { ++done; });
      weft::taskwait();
      outer.spawn([&] { ++done; });
      weft::join([&] { ++done; }, [&] { ++done; });
      weft::taskloop(weft::range(10), [&](int) { ++done; });
      done += weft::spawn([] { return 1; }).get();
      weft::task_group own;
      own.spawn([&] { ++done; });
      own.wait();
      m.lock();
      m.unlock();
      weft::unblock(weft::this_task::self());
      weft::this_task::block();
      weft::this_task::sleep_for_ns(1000);
      done += ++*local == 4;
      weft_spawn([](void *arg) { return ++*static_cast<std::atomic<int> *>(arg), 0; }, &done, 0,
                 nullptr, 0, nullptr, nullptr);
    });
    outer.wait();
    EXPECT_EQ(done, k_ways * (1 + 1 + 2 + 10 + 1 + 1 + 1 + 1));
  });
}

TEST_P(destructor, is_refused_what_only_a_body_may_call) {
  in_processes([] {
    std::atomic<int> refusals{0};
    int x = 0;
    end_tasks_of_all_kinds([&] {
      if (weft::this_task::in_final()) // accesses are not entered there
        return void(refusals += 5);
      refusals += refused([&] { weft::spawn([] {}, weft::inout(x)); }) == code::invalid_argument;
      refusals += refused([&] { weft::spawn([] {}, weft::inout(weft::region(&x, 1))); }) ==
                  code::invalid_argument;
      refusals += refused([&] { weft::this_task::increase_events(); }) == code::not_a_task;
      refusals += refused([&] { weft::release(weft::inout(x)); }) == code::not_a_task;
      refusals += refused([&] { static_cast<void>(weft::reduction_local(x)); }) == code::not_a_task;
    });
    EXPECT_GE(refusals,
              (k_ways - 1) * 5); // that of a taskiter runs as the taskiter, which is final in a way
  });
}

TEST_P(destructor, runs_on_a_worker_when_another_thread_ends_the_task) {
  in_processes([] {
    std::atomic<int> spawned{0};
    std::atomic<bool> on_a_worker{false};
    weft::task_ref self;
    std::atomic<bool> begun{false};
    const auto body = [&] {
      weft::this_task::increase_events();
      self = weft::this_task::self();
      begun = true;
    };
    weft::spawn(calls_at_its_end(body,
                                 [&] {
                                   on_a_worker =
                                       std::string(weft::this_task::label()) == "ends elsewhere" &&
                                       weft::this_task::cost() == 7;
                                   weft::spawn([&] { ++spawned; });
                                   weft::taskwait();
                                   weft::spawn([&] { ++spawned; });
                                 }),
                weft::label("ends elsewhere"), weft::cost(7));
    std::thread other([&] {
      while (!begun)
        std::this_thread::yield();
      weft::decrease_events(self);
    });
    weft::taskwait();
    EXPECT_EQ(spawned, 2);
    EXPECT_TRUE(on_a_worker);
    other.join();
    EXPECT_EQ(weft::stats().executed, weft::stats().spawned) << "a destructor alone is no body";
  });
}

TEST_P(destructor, of_a_recorded_task_may_wait_when_a_service_ends_the_task) {
  in_processes([] {
    static std::atomic<bool> held{false};
    static weft::task_ref self;
    const auto end_it = [](void *) {
      const bool ended = held.exchange(false);
      if (ended)
        weft::decrease_events(self);
      return ended;
    };
    weft::service ends("ends", weft::poll_point::timer, end_it, nullptr);
    std::atomic<int> waited{0};
    const auto body = [] {
      weft::this_task::increase_events();
      self = weft::this_task::self();
      held = true;
    };
    weft::taskiter(2, [&] {
      weft::spawn(calls_at_its_end(body, [&] {
        weft::this_task::sleep_for_ns(1000);
        ++waited;
      }));
    });
    weft::taskwait();
    EXPECT_EQ(waited, 1);
  });
}

TEST_P(destructor, tells_the_parent_of_a_child_that_fails) {
  in_processes([] {
    weft::spawn(calls_at_its_end([] {}, [] { weft::spawn([] { throw 7; }); }));
    EXPECT_THROW(weft::taskwait(), int);
  });
}

TEST_P(destructor, tells_the_parent_of_a_child_that_has_failed_when_it_returns) {
  in_processes([] {
    weft::spawn(calls_at_its_end([] {}, [] { weft::spawn([] { throw 7; }, weft::if_(false)); }));
    EXPECT_THROW(weft::taskwait(), int);
  });
}

TEST_P(destructor, waits_for_its_own_children_and_throws_nothing_of_the_bodys) {
  in_processes([] {
    std::atomic<int> caught{0};
    const auto body = [] { weft::spawn([] { throw 7; }); };
    weft::spawn(calls_at_its_end(body, [&] {
      try {
        weft::spawn([] { throw 'c'; });
        weft::taskwait();
      } catch (char) {
        ++caught;
      }
    }));
    EXPECT_THROW(weft::taskwait(), int);
    EXPECT_EQ(caught, 1);
  });
}

TEST_P(destructor, may_spawn_a_task_with_a_destructor_again_and_again) {
  in_processes([] {
    std::atomic<int> left{200};
    std::function<void()> again = [&] {
      if (left-- > 0)
        weft::spawn(calls_at_its_end([] {}, again));
    };
    weft::spawn(calls_at_its_end([] {}, again));
    weft::taskwait();
    EXPECT_LE(left, 0);
  });
}

} // namespace

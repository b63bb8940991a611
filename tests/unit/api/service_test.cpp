// SPDX-License-Identifier: Apache-2.0
// Polling services: called at their poll point, never twice at once, never after the destructor.
#include "poller.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using test::poller;

TEST(service, an_idle_service_is_called_while_a_task_waits) {
  poller p;
  weft::service s("test", weft::poll_point::idle, &poller::call, &p);
  bool called = false;
  weft::spawn([&] { called = test::eventually([&] { return p.calls > 3; }); });
  weft::taskwait();
  EXPECT_TRUE(called);
  EXPECT_EQ(p.overlaps, 0);
}

TEST(service, a_timer_service_is_called_beside_running_tasks) {
  poller p;
  weft::service s("test", weft::poll_point::timer, &poller::call, &p);
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
  weft::service s("test", weft::poll_point::timer, &poller::call, &p);
  EXPECT_TRUE(test::eventually([&] { return p.calls > 3; }));
}

TEST(service, an_idle_service_is_called_while_all_workers_sleep) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "the only worker is this thread";
  poller p;
  weft::service s("test", weft::poll_point::idle, &poller::call, &p);
  for (int i = 0; i != 600 && p.calls <= 3;
       ++i) // the main thread sleeps in the kernel, not as a task
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_GT(p.calls, 3);
  EXPECT_EQ(p.overlaps, 0);
}

TEST(service, is_never_called_after_its_destructor) {
  for (auto where : {weft::poll_point::idle, weft::poll_point::timer})
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
        weft::service a("a", weft::poll_point::idle, &poller::call, &p);
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

struct
    completer { // what a communication library would do: finds out by polling that a task can go on
  std::atomic<weft::detail::task *> waiting{nullptr};
  static bool call(void *context) {
    auto *task = static_cast<completer *>(context)->waiting.exchange(nullptr);
    if (task)
      weft::unblock(weft::task_ref(task));
    return task != nullptr;
  }
};

TEST(service, may_unblock_a_task) {
  for (auto where : {weft::poll_point::idle, weft::poll_point::timer}) {
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

constexpr weft::poll_point k_poll_points[] = {weft::poll_point::idle, weft::poll_point::timer};

TEST(service, may_spawn_and_its_tasks_are_ordered_by_their_data) {
  for (auto where : k_poll_points) {
    struct counter {
      int spawned = 0, value = 0;
      std::atomic<int> done{0};
      static bool call(void *context) {
        auto &self = *static_cast<counter *>(context);
        if (self.spawned == 100)
          return false;
        weft::spawn(
            [&self, expected = self.spawned] {
              weft::taskyield();
              self.done += self.value++ == expected;
            },
            weft::inout(self.value));
        ++self.spawned;
        return true;
      }
    } c;
    weft::service s("spawner", where, &counter::call, &c);
    EXPECT_TRUE(test::eventually([&] { return c.done == 100; })) << c.done;
  }
}

TEST(service, what_it_spawned_is_complete_when_the_program_ends) {
  auto end = test::in_process({}, [] {
    static std::atomic<bool> spawned{false};
    static weft::service s(
        "spawner", weft::poll_point::idle,
        [](void *) {
          if (!spawned)
            weft::spawn([] {
              weft::this_task::sleep_for(std::chrono::milliseconds(20));
              std::puts("ran");
              std::fflush(stdout);
            });
          return !spawned.exchange(true);
        },
        nullptr);
    EXPECT_TRUE(test::eventually([] { return spawned.load(); }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("ran\n")) << end;
}

TEST(service, an_exception_of_what_it_spawned_is_reported) {
  auto end = test::in_process({}, [] {
    static std::atomic<bool> spawned{false};
    static weft::service s(
        "spawner", weft::poll_point::idle,
        [](void *) {
          if (!spawned)
            weft::spawn([] { throw std::runtime_error("unheard of"); });
          return !spawned.exchange(true);
        },
        nullptr);
    EXPECT_TRUE(test::eventually([] { return spawned.load(); }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(
      "of a service' threw, and no caller asked for the exception: unheard of; nothing can wait for it there"))
      << end;
}

TEST(service, must_not_wait) {
  for (auto where : k_poll_points) {
    static std::atomic<int> refused;
    refused = 0;
    weft::service s(
        "impatient", where,
        [](void *) {
          const auto refuses = [](auto &&wait) {
            try {
              wait();
            } catch (const weft::error &e) {
              refused += e.code() == weft::errc::no_block &&
                         std::string(e.what()).find("service 'impatient' must not wait") !=
                             std::string::npos;
            }
          };
          if (refused)
            return false;
          refuses([] { weft::this_task::sleep_for(std::chrono::milliseconds(1)); });
          refuses([] { weft::this_task::block(); });
          refuses([] { (void)weft::this_task::block_for(std::chrono::hours(1)); });
          return true;
        },
        nullptr);
    EXPECT_TRUE(test::eventually([] { return refused != 0; }));
    EXPECT_TRUE(test::eventually([] { return refused == 3; })) << refused;
  }
}

TEST(service, that_throws_ends_the_program_and_is_named) {
  for (const char *where : {"idle", "timer"}) {
    auto end = test::in_process({{"PLACE", where}}, [] {
      const bool idle = std::string(std::getenv("PLACE")) == "idle";
      weft::service s(
          "careless", idle ? weft::poll_point::idle : weft::poll_point::timer,
          [](void *) -> bool { throw std::runtime_error("bad poll"); }, nullptr);
      weft::this_task::sleep_for(std::chrono::minutes(1));
    });
    EXPECT_TRUE(end.aborted()) << end;
    EXPECT_TRUE(
        end.printed("weft: fatal: service 'careless' threw: bad poll; let it catch what it throws"))
        << end;
  }
}

TEST(service, may_end_itself_and_make_another) {
  for (auto where : k_poll_points) {
    struct chain {
      weft::poll_point where;
      std::unique_ptr<weft::service> now;
      int polls = 0;
      std::atomic<bool> ended{false};
      static bool call(void *context) {
        auto &self = *static_cast<chain *>(context);
        if (++self.polls == 20) {
          self.now.reset();
          self.ended = true;
        } else {
          self.now = std::make_unique<weft::service>("next", self.where, &call, context);
        }
        return true;
      }
    } c{where, nullptr, 0, {}};
    {
      poller neighbour;
      weft::service beside("beside", where, &poller::call, &neighbour);
      c.polls = 0;
      // The first is made by a service too: `now` belongs to the thread that polls.
      struct starter {
        chain &c;
        bool started = false;
        static bool call(void *context) {
          auto &self = *static_cast<starter *>(context);
          if (!self.started)
            self.c.now =
                std::make_unique<weft::service>("first", self.c.where, &chain::call, &self.c);
          return !std::exchange(self.started, true);
        }
      } first{c};
      weft::service start("start", where, &starter::call, &first);
      EXPECT_TRUE(test::eventually([&] { return c.ended.load(); })) << c.polls;
      const int before = neighbour.calls;
      EXPECT_TRUE(test::eventually([&] { return neighbour.calls > before; }))
          << "the others are called on";
    }
    EXPECT_EQ(c.polls, 20);
  }
}

TEST(service, works_in_a_forked_child_although_a_worker_polled_at_the_fork) {
  auto end =
      test::in_process({{"TSAN_OPTIONS", "die_after_fork=0:report_thread_leaks=0"},
                        {"ASAN_OPTIONS", "detect_leaks=0"}},
                       [] {
                         poller p;
                         p.busy = true; // is polled all the time
                         weft::service s("busy", weft::poll_point::idle, &poller::call, &p);
                         EXPECT_TRUE(test::eventually([&] { return p.calls > 3; }));
                         for (int i = 0; i != 10; ++i) {
                           const pid_t child = fork();
                           if (child == 0) {
                             alarm(30);
                             p.inside = 0;
                             const int before = p.calls;
                             _exit(test::eventually([&] { return p.calls > before + 3; }) ? 0 : 1);
                           }
                           int status = -1;
                           waitpid(child, &status, 0);
                           EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
                         }
                       });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(service, owns_a_callable_until_its_end) {
  auto owned = std::make_unique<std::atomic<int>>(0);
  std::atomic<int> &calls = *owned;
  std::weak_ptr<int> life;
  {
    auto token = std::make_shared<int>(0);
    life = token;
    weft::service s("test", weft::poll_point::timer,
                    [&calls, token = std::move(token), only_moved = std::make_unique<int>(7)] {
                      ++calls;
                      return *only_moved == 7;
                    });
    EXPECT_TRUE(test::eventually([&] { return calls > 3; }));
    EXPECT_FALSE(life.expired());
  }
  EXPECT_TRUE(life.expired());
}

TEST(service, a_callable_may_end_its_own_service) {
  std::optional<weft::service> s;
  std::atomic<bool> made{false}, over{false};
  const auto token = std::make_shared<int>(0);
  s.emplace("test", weft::poll_point::timer, [&s, &made, &over, token] {
    if (!made)
      return false;
    std::atomic<bool> &ended = over; // the captures end with the service
    s.reset();
    ended = true;
    return true;
  });
  EXPECT_EQ(token.use_count(), 2);
  made = true;
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  EXPECT_FALSE(s);
  EXPECT_EQ(token.use_count(), 1);
}

using watch = std::chrono::steady_clock;
std::atomic<int> g_begun{0}, g_ended{0};
std::atomic<watch::time_point> g_began_at{watch::time_point()}; // the last one

/// Is destroyed in exit() after Weft's part of it, and fails the process if a service is called then.
/// exit() gives a call 100 ms to end. A thread that gets no processor for so long may begin and end
/// one call later: not two.
struct watches_calls {
  ~watches_calls() {
    const int begun = g_begun;
    if (g_ended != begun && watch::now() - g_began_at.load() < std::chrono::milliseconds(100))
      _exit(9); // exit() has not waited for it
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (g_begun > begun + 1)
      _exit(9);
  }
};

/// Ends the process by exit() in a task, while a service is called all the time.
test::ending exits_while_called(weft::poll_point where) {
  const test::environment leaves = {{"WEFT_WORKERS", "2"},
                                    {"WEFT_POLL_PERIOD", "1us"},
                                    {"ASAN_OPTIONS", "detect_leaks=0"}}; // the stack of main is left
  return test::in_process(leaves, [where] {
    static const watches_calls watches; // ends after Weft, which starts later
    static auto *const polled = new weft::service("test", where, [] {
      g_began_at = watch::now();
      ++g_begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++g_ended;
      return true;
    });
    (void)polled;
    weft::spawn([] {
      while (g_begun < 3)
        weft::taskyield();
      std::exit(0);
    });
    for (;;)
      weft::taskyield();
  });
}

TEST(service, is_called_no_more_after_an_exit_of_a_task) {
  auto end = exits_while_called(weft::poll_point::timer);
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(service, of_a_scheduling_point_is_called_no_more_after_an_exit_of_a_task) {
  auto end = exits_while_called(weft::poll_point::scheduling_point);
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(service, that_never_returns_does_not_keep_exit_of_a_task) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"ASAN_OPTIONS", "detect_leaks=0"}}, [] {
    static auto *const stuck = new weft::service("test", weft::poll_point::timer, [] {
      g_begun = 1;
      for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
      return true;
    });
    (void)stuck;
    weft::spawn([] {
      while (g_begun == 0)
        std::this_thread::yield();
      std::exit(0);
    });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(service, may_exit) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    static weft::service *const leaves = new weft::service("test", weft::poll_point::timer, [] {
      std::exit(3);
      return true;
    });
    (void)leaves;
    for (;;)
      std::this_thread::sleep_for(std::chrono::hours(1));
  });
  EXPECT_TRUE(end.exited(3)) << end;
}

TEST(service, destroys_a_callable_that_it_refuses) {
  auto token = std::make_shared<int>(0);
  EXPECT_THROW(weft::service("test", static_cast<weft::poll_point>(99), [token] { return true; }),
               weft::error);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(service, a_callable_has_a_priority) {
  std::vector<int> order;
  weft::event both;
  const auto note = [&](int number) {
    return [&, number] {
      order.push_back(number);
      if (order.size() == 2)
        both.set();
      return false;
    };
  };
  weft::service low("low", weft::poll_point::taskwait, note(1));
  weft::service high("high", weft::poll_point::taskwait, note(2), 1);
  weft::spawn([&] { both.wait(); });
  weft::taskwait(); // no other thread waits for children, and calls them
  ASSERT_GE(order.size(), 2u);
  EXPECT_EQ(order[0], 2);
  EXPECT_EQ(order[1], 1);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Services at their poll points, in order of priority; those that take long are reported.
#include "poller.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/listener.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>

namespace {

using test::poller;

constexpr weft::poll_point k_all_poll_points[] = {weft::poll_point::idle, weft::poll_point::timer,
                                                  weft::poll_point::taskwait,
                                                  weft::poll_point::scheduling_point};

/// Something that passes all poll points.
void pass_by() {
  for (int i = 0; i != 10; ++i)
    weft::spawn([] { weft::taskyield(); });
  weft::taskwait();
}

template <class Done>
bool passes_until(Done done) {
  return test::eventually([&] { return pass_by(), done(); });
}

TEST(poll_points, are_called_each) {
  for (auto where : k_all_poll_points) {
    poller p;
    weft::service s("test", where, &poller::call, &p);
    EXPECT_TRUE(passes_until([&] { return p.calls > 3; })) << static_cast<int>(where);
    EXPECT_EQ(p.overlaps, 0);
  }
}

TEST(poll_points, of_a_taskwait_is_called_once_by_a_task_that_has_to_wait) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    poller p;
    p.busy = true;
    weft::service s("test", weft::poll_point::taskwait, &poller::call, &p);
    weft::taskwait();
    EXPECT_EQ(p.calls, 0) << "there is nothing to wait for";
    for (int i = 0; i != 10; ++i)
      weft::spawn([] {});
    weft::taskwait();
    EXPECT_EQ(p.calls, 1);
    weft::task_group group;
    group.spawn([] {});
    group.wait();
    EXPECT_EQ(p.calls, 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(poll_points, a_service_that_yields_loses_no_task) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    int yielded = 0, ran = 0;
    weft::service s("yields", weft::poll_point::scheduling_point, [&] {
      weft::taskyield();
      ++yielded;
      return false;
    });
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { ++ran; });
    for (int i = 0; i != 50; ++i)
      weft::taskyield();
    weft::taskwait();
    EXPECT_EQ(ran, 100);
    EXPECT_GT(yielded, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(poll_points, of_a_scheduling_point_is_called_by_taskyield_and_leaves_errno_alone) {
  static thread_local int here;
  static std::atomic<int> calls;
  here = 1;
  calls = 0;
  weft::service s(
      "test", weft::poll_point::scheduling_point,
      [](void *) {
        calls += here;
        errno = ENOENT;
        return false;
      },
      nullptr);
  errno = E2BIG;
  EXPECT_TRUE(test::eventually([] { return weft::taskyield(), calls > 0; }))
      << "another thread may have the turn";
  EXPECT_EQ(errno, E2BIG);
  here = 0;
}

TEST(poll_points, of_higher_priority_is_called_first_and_equals_as_they_came) {
  struct log {
    std::string names;
    std::atomic<int> rounds{0};
  };
  struct entry {
    log &to;
    char name;
    static bool call(void *context) {
      auto &self = *static_cast<entry *>(context);
      self.to.names += self.name;
      self.to.rounds += self.name == 'z';
      return false;
    }
  };
  for (auto where : k_all_poll_points) {
    log l;
    entry z{l, 'z'}, a{l, 'a'}, b{l, 'b'}, c{l, 'c'};
    {
      weft::service last("last", where, &entry::call, &z, -1);
      EXPECT_TRUE(passes_until([&] { return l.rounds > 1; }));
      weft::service second("second", where, &entry::call, &b),
          third("third", where, &entry::call, &c);
      weft::service first("first", where, &entry::call, &a, 7);
      const int before = l.rounds;
      EXPECT_TRUE(passes_until([&] { return l.rounds > before + 2; }));
    }
    EXPECT_NE(l.names.find("abcz"), std::string::npos) << l.names;
    EXPECT_EQ(l.names.find("ac"), std::string::npos) << l.names;
    EXPECT_EQ(l.names.find("za"
                           "c"),
              std::string::npos)
        << l.names;
  }
}

TEST(poll_points, of_idle_is_called_while_no_worker_is_idle) {
  poller p;
  weft::service s("test", weft::poll_point::idle, &poller::call, &p);
  std::atomic<int> waiting{weft::worker_count()};
  std::atomic<bool> called{false};
  for (int i = 0; i != weft::worker_count(); ++i) // the main task's own worker takes one as well
    weft::spawn([&] {
      --waiting;
      int before = -1;
      for (auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
           !called && std::chrono::steady_clock::now() < end;) {
        if (waiting == 0 && before < 0)
          before = p.calls;
        if (before >= 0 && p.calls > before + 3)
          called = true;
      }
    });
  weft::taskwait();
  EXPECT_TRUE(called);
  EXPECT_EQ(p.overlaps, 0);
}

TEST(poll_points, may_end_the_neighbours_of_any_service) {
  for (auto where : k_all_poll_points) {
    struct state {
      std::unique_ptr<weft::service> neighbours[4];
      poller called[4];
      std::atomic<bool> ended{false};
      static bool call(void *context) {
        auto &self = *static_cast<state *>(context);
        for (auto &n : self.neighbours)
          n.reset();
        self.ended = true;
        return true;
      }
    } st;
    int i = 0;
    for (auto point : k_all_poll_points) {
      st.neighbours[i] =
          std::make_unique<weft::service>("neighbour", point, &poller::call, &st.called[i], 1);
      ++i;
    }
    weft::service s("ender", where, &state::call, &st);
    EXPECT_TRUE(passes_until([&] { return st.ended.load(); }));
    int calls[4];
    for (i = 0; i != 4; ++i)
      calls[i] = st.called[i].calls;
    pass_by();
    for (i = 0; i != 4; ++i)
      EXPECT_EQ(st.called[i].calls, calls[i]);
  }
}

TEST(poll_points, that_there_are_not_are_refused) {
  try {
    weft::service s("lost", static_cast<weft::poll_point>(4), &poller::call, nullptr);
    ADD_FAILURE() << "accepted";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("service 'lost' has no poll point of that number (4)"),
              std::string::npos)
        << e.what();
  }
}

// ---- calls that take long
// -------------------------------------------------------------------------------------------

TEST(poll_points, that_takes_long_is_reported_with_its_name_and_once) {
  auto end = test::in_process({{"WEFT_POLL_SLOW", "1ms"}}, [] {
    static std::atomic<int> calls{0};
    weft::service quick("quick", weft::poll_point::timer, [](void *) { return false; }, nullptr);
    weft::service slow(
        "sluggish", weft::poll_point::idle,
        [](void *) {
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
          return ++calls > 0;
        },
        nullptr);
    EXPECT_TRUE(test::eventually([] { return calls > 5; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto at = end.output.find("warning: service 'sluggish' (poll point idle) ");
  EXPECT_NE(at, std::string::npos) << end;
  EXPECT_EQ(end.output.find("'sluggish'", at + 20), std::string::npos) << end;
}

TEST(poll_points, that_does_not_return_is_reported_while_it_runs) {
  for (const char *with : {"a poller beside it", "nobody but the watcher"}) {
    auto end = test::in_process(
        {{"WEFT_POLL_SLOW", "1ms"}, {"BESIDE", with}, {"WEFT_WATCH_MAX_SPARES", "4"}}, [] {
          static std::atomic<bool> go{false};
          std::unique_ptr<weft::service> beside;
          if (std::getenv("BESIDE")[0] == 'a')
            beside = std::make_unique<weft::service>(
                "beside", weft::poll_point::idle, [](void *) { return false; }, nullptr);
          weft::service s(
              "stuck", weft::poll_point::timer,
              [](void *) {
                while (!go)
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
                return false;
              },
              nullptr);
          test::listener l;
          bool heard = false; // a task that sleeps would wait for the timer
          for (int i = 0; i != 6000 && !heard; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            heard =
                l.has_heard("warning: service 'stuck' (poll point timer) has not returned for ");
          }
          EXPECT_TRUE(heard);
          go = true;
        });
    EXPECT_TRUE(end.exited(0)) << with << end;
  }
}

TEST(poll_points, nothing_is_reported_when_the_setting_is_off) {
  auto end = test::in_process({{"WEFT_POLL_SLOW", "off"}}, [] {
    static std::atomic<int> calls{0};
    weft::service slow(
        "sluggish", weft::poll_point::idle,
        [](void *) {
          std::this_thread::sleep_for(std::chrono::milliseconds(60));
          return ++calls > 0;
        },
        nullptr);
    EXPECT_TRUE(test::eventually([] { return calls > 1; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("sluggish")) << end;
}

TEST(poll_points, of_the_timer_is_called_in_a_forked_child) {
  auto end =
      test::in_process({{"TSAN_OPTIONS", "die_after_fork=0:report_thread_leaks=0"},
                        {"ASAN_OPTIONS", "detect_leaks=0"}},
                       [] {
                         poller p;
                         weft::service s("timed", weft::poll_point::timer, &poller::call, &p);
                         EXPECT_TRUE(test::eventually([&] { return p.calls > 3; }));
                         const pid_t child = fork();
                         if (child == 0) {
                           alarm(30);
                           p.inside = 0;
                           weft::start();
                           const int before = p.calls;
                           _exit(test::eventually([&] { return p.calls > before + 3; }) ? 0 : 1);
                         }
                         int status = -1;
                         waitpid(child, &status, 0);
                         EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
                       });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

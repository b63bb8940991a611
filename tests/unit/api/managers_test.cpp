// SPDX-License-Identifier: Apache-2.0
// Modes of managers (setting manage.mode). That programs mean the same in all of them is what tests/policies.cmake and the fuzzer show;
// here are the faults that only messages can have.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr const char *k_posts_always = "distributed_always", *k_posts_often = "distributed_often";
constexpr const char *k_modes[] = {"distributed", k_posts_always, k_posts_often,
                                   "central",     "hybrid",       "auto"};

test::environment with(const char *mode, test::environment more) {
  if (mode == k_posts_always || mode == k_posts_often) {
    more.emplace_back("WEFT_MANAGE_BACKLOG", mode == k_posts_always ? "0" : "2");
    more.emplace_back("WEFT_MANAGE_MAX_OPS", mode == k_posts_always ? "8" : "2");
    mode = "distributed";
  }
  more.emplace_back("WEFT_MANAGE_MODE", mode);
  return more;
}

class managers : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(modes, managers, testing::ValuesIn(k_modes),
                         [](const auto &p) { return std::string(p.param); });

/// One chain per cell, created by one task; the sum tells order and number.
long chains(int cells, int length) {
  std::vector<long> cell(static_cast<std::size_t>(cells), 0);
  for (int i = 1; i <= length; ++i)
    for (long &c : cell)
      weft::spawn([&c, i] { c = c * 3 % 1000003 + i; }, weft::inout(c));
  weft::taskwait();
  long sum = 0;
  for (long c : cell)
    sum += c;
  return sum;
}

long chains_in_order(int cells, int length) {
  long c = 0;
  for (int i = 1; i <= length; ++i)
    c = c * 3 % 1000003 + i;
  return c * cells;
}

TEST_P(managers, tasks_that_fill_every_queue_keep_their_order) {
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "3"}}), [] {
    EXPECT_EQ(chains(7, 3000), chains_in_order(7, 3000));
    EXPECT_EQ(weft::stats().queued, 0u) << "what is complete is no message any more";
    EXPECT_EQ(weft::stats().in_graph, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(managers, a_parent_that_changes_its_worker_keeps_the_order_of_its_children) {
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "4"}}), [] {
    std::atomic<int> wrong{0};
    for (int p = 0; p != 16; ++p)
      weft::spawn([&wrong] {
        int at = 0;
        for (int i = 0; i != 200; ++i) {
          weft::spawn([&at, &wrong, i] { wrong += at++ != i; }, weft::inout(at));
          if (i % 3 == 0)
            weft::taskyield();
        }
        weft::taskwait();
        wrong += at != 200;
      });
    weft::taskwait();
    EXPECT_EQ(wrong, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(managers, messages_of_a_thread_that_leaves_are_applied) {
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "2"}}), [] {
    for (int i = 0; i != 50; ++i) {
      long cell = 0;
      std::thread([&cell] {
        for (int k = 0; k != 20; ++k)
          weft::spawn([&cell] { ++cell; }, weft::inout(cell)); // only the end of the thread waits
      }).join();
      EXPECT_EQ(cell, 20);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(managers, shutdown_waits_for_what_is_queued) {
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "2"}}), [] {
    static long cell = 0;
    for (int i = 0; i != 5000; ++i)
      weft::spawn([] { ++cell; }, weft::inout(cell));
    weft::shutdown();
    EXPECT_EQ(cell, 5000);
    EXPECT_EQ(weft::stats().queued, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(managers, the_child_of_a_fork_has_managers_of_its_own) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer starts no threads in the child of a fork";
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "2"}}), [] {
    long before = 0;
    for (int i = 0; i != 400; ++i)
      weft::spawn([&before] { ++before; }, weft::inout(before));
    const pid_t child = fork();
    if (child == 0)
      _exit(chains(3, 500) == chains_in_order(3, 500) ? 0 : 1);
    weft::taskwait();
    EXPECT_EQ(before, 400);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

struct counts_its_end {
  std::atomic<int> *ends;
  explicit counts_its_end(std::atomic<int> &e) : ends(&e) {}
  counts_its_end(counts_its_end &&other) noexcept : ends(std::exchange(other.ends, nullptr)) {}
  counts_its_end(const counts_its_end &) = delete;
  ~counts_its_end() {
    if (ends)
      ++*ends;
  }
};

TEST_P(managers, every_closure_is_destroyed_once_before_the_wait_is_over) {
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "4"}}), [] {
    std::atomic<int> ends{0};
    long cell = 0, inner = 0;
    for (int i = 0; i != 1000; ++i)
      weft::spawn([c = counts_its_end(ends), &cell] { ++cell; }, weft::inout(cell));
    for (int i = 0; i != 100; ++i)
      weft::spawn(
          [c = counts_its_end(ends), &inner, &ends] {
            weft::spawn([c2 = counts_its_end(ends), &inner] { ++inner; }, weft::inout(inner));
          },
          weft::inout(inner));
    weft::taskwait();
    EXPECT_EQ(ends, 1200);
    EXPECT_EQ(cell, 1000);
    EXPECT_EQ(inner, 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(managers, an_exception_reaches_who_waits_and_the_successors_run) {
  auto end = test::in_process(with(GetParam(), {{"WEFT_WORKERS", "2"}}), [] {
    int cell = 0;
    weft::spawn([] { throw 7; }, weft::out(cell));
    weft::spawn([&cell] { cell = 3; }, weft::inout(cell));
    EXPECT_THROW(weft::taskwait(), int);
    EXPECT_EQ(cell, 3);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(managers, memory_is_bounded_by_the_throttle) {
  auto end = test::in_process(
      with(GetParam(), {{"WEFT_WORKERS", "2"}, {"WEFT_THROTTLE_BYTES", "256KiB"}}), [] {
        long cells[8] = {};
        std::uint64_t most = 0;
        std::vector<weft::access> all;
        for (long &c : cells)
          all.push_back(weft::inout(c));
        weft::spawn(
            [] { EXPECT_TRUE(test::eventually([] { return weft::stats().throttled > 0; })); },
            weft::accesses(all));
        for (int i = 0; i != 20000; ++i) {
          long &c = cells[i % 8];
          weft::spawn([&c] { ++c; }, weft::inout(c));
          if (i % 64 == 0)
            most = std::max(most, weft::stats().live_bytes);
        }
        weft::taskwait();
        for (long c : cells)
          EXPECT_EQ(c, 2500);
        EXPECT_GT(weft::stats().throttled, 0u);
        EXPECT_LT(most, 4u << 20)
            << "the limit, a quarter more each time that nothing else can run, and what is not reported yet";
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, the_counters_see_what_is_queued_and_what_is_in_the_graph) {
  auto end = test::in_process(
      with(k_posts_always, {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}), [] {
        int cell = 0, other = 0;
        for (int i = 0; i != 10; ++i)
          weft::spawn([&cell] { ++cell; }, weft::inout(cell));
        EXPECT_EQ(weft::stats().queued, 10u) << "the only worker has not had time to manage";
        EXPECT_EQ(weft::stats().in_graph, 0u);
        weft::spawn([&other] { ++other; }, weft::inout(other),
                    weft::if_(false)); // acts at once, so what is queued is applied before
        EXPECT_EQ(weft::stats().queued, 0u);
        EXPECT_EQ(weft::stats().in_graph, 10u);
        EXPECT_EQ(weft::stats().ready, 1u) << "the first of the chain";
        weft::taskwait();
        EXPECT_EQ(weft::stats().in_graph, 0u);
        EXPECT_EQ(cell, 10);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, messages_are_counted_where_they_are_sent_and_applied) {
  auto end = test::in_process(
      with(k_posts_always, {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}), [] {
        int cell = 0;
        for (int i = 0; i != 10; ++i)
          weft::spawn([&cell] { ++cell; }, weft::inout(cell));
        auto now = weft::counters::take();
        EXPECT_EQ(now.value("/managers/count/sent"), 10);
        EXPECT_EQ(now.value("/managers/queue/length"), 10);
        EXPECT_EQ(now.value("/managers/queue/new"), 10);
        EXPECT_EQ(now.value("/threads/count/instantaneous/all"), 0)
            << "none of them is in the graph";
        weft::taskwait();
        now = weft::counters::take();
        EXPECT_EQ(now.value("/managers/count/sent"), 20) << "each was created and has ended";
        EXPECT_EQ(now.value("/managers/count/applied"), 20);
        EXPECT_EQ(now.value("/managers/queue/length"), 0);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, nothing_is_posted_where_no_one_would_take_it) {
  auto end = test::in_process(with("distributed", {{"WEFT_WORKERS", "1"},
                                                   {"WEFT_WATCH_MAX_SPARES", "0"},
                                                   {"WEFT_SCHED_POLICY", "stealing"},
                                                   {"WEFT_DEPS_SYSTEM", "wait-free"}}),
                              [] {
                                int cell = 0;
                                for (int i = 0; i != 10; ++i)
                                  weft::spawn([&cell] { ++cell; }, weft::inout(cell));
                                EXPECT_EQ(weft::stats().in_graph, 10u);
                                weft::taskwait();
                                EXPECT_EQ(cell, 10);
                                EXPECT_EQ(weft::counters::take().value("/managers/count/sent"), 0);
                              });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, a_worker_with_enough_to_go_on_with_posts_while_others_idle) {
  auto end = test::in_process(
      with("distributed", {{"WEFT_WORKERS", "4"},
                           {"WEFT_MANAGE_BACKLOG", "1"},
                           {"WEFT_MANAGE_MAX_OPS", "1"},
                           {"WEFT_SCHED_POLICY", "stealing"},
                           {"WEFT_DEPS_SYSTEM", "wait-free"}}),
      [] {
        long cell = 0, steps = 0;
        const auto sent = [] { return weft::counters::take().value("/managers/count/sent"); };
        EXPECT_TRUE(
            test::eventually([&] { // the others have slept meanwhile, and need a while to come
              for (int i = 0; i != 20; ++i) {
                weft::spawn([] {});
                weft::spawn([&cell, step = steps++] { cell += cell == step; }, weft::inout(cell));
              }
              weft::taskwait();
              return sent() > 0;
            }));
        EXPECT_EQ(cell, steps) << "in order, whoever entered them";
        // A manager counts behind what it has applied, and the tasks may be over by then.
        EXPECT_TRUE(test::eventually([&] {
          return weft::counters::take().value("/managers/count/applied") == sent();
        }));
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, managers_are_no_service_and_are_not_reported_as_one) {
  auto end = test::in_process(
      with(k_posts_always,
           {{"WEFT_WORKERS", "1"}, {"WEFT_POLL_SLOW", "1ms"}, {"WEFT_WATCH_MAX_SPARES", "0"}}),
      [] {
        int cell = 0;
        const auto slow = [](void *) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        };
        weft::spawn([&cell] { ++cell; }, weft::inout(cell),
                    weft::onready(slow, nullptr)); // called by the thread that makes it ready
        weft::taskwait();
        EXPECT_EQ(cell, 1);
      });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("service '")) << end;
}

TEST_P(managers, a_hang_is_reported) {
  auto end = test::in_process(
      with(GetParam(),
           {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "abort"}, {"WEFT_WATCH_PATIENCE", "50ms"}}),
      [] {
        weft::mutex a, b;
        std::atomic<int> have_one{0};
        const auto take_both = [&](weft::mutex &first, weft::mutex &second) {
          first.lock();
          ++have_one;
          while (have_one != 2)
            weft::taskyield();
          second.lock();
        };
        int left = 0, right = 0;
        weft::spawn([&] { take_both(a, b); }, weft::inout(left), weft::label("left"));
        weft::spawn([&] { take_both(b, a); }, weft::inout(right), weft::label("right"));
        weft::taskwait();
      });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'left' waits for mutex 0x")) << end;
}

TEST(manager_modes, in_mode_direct_nothing_is_ever_queued) {
  auto end = test::in_process(with("direct", {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}), [] {
    int cell = 0;
    for (int i = 0; i != 10; ++i)
      weft::spawn([&cell] { ++cell; }, weft::inout(cell));
    EXPECT_EQ(weft::stats().queued, 0u);
    EXPECT_EQ(weft::stats().in_graph, 10u);
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, a_forced_manager_is_the_only_one_and_enough) {
  auto end =
      test::in_process(with("central", {{"WEFT_WORKERS", "3"}, {"WEFT_MANAGE_FORCED", "true"}}),
                       [] { EXPECT_EQ(chains(5, 2000), chains_in_order(5, 2000)); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, one_manager_at_a_time_that_does_one_thing_is_enough) {
  auto end = test::in_process(with("distributed", {{"WEFT_WORKERS", "4"},
                                                   {"WEFT_MANAGE_MAX_MANAGERS", "1"},
                                                   {"WEFT_MANAGE_MAX_OPS", "1"},
                                                   {"WEFT_MANAGE_MAX_SPINS", "1"},
                                                   {"WEFT_MANAGE_MIN_READY", "1"}}),
                              [] { EXPECT_EQ(chains(5, 2000), chains_in_order(5, 2000)); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, values_out_of_range_are_refused_with_the_name_of_the_setting) {
  auto end = test::in_process({}, [] {
    for (const auto &[key, value] :
         {std::pair("manage.mode", "often"), std::pair("manage.max_managers", "0"),
          std::pair("manage.max_managers", "1025"), std::pair("manage.max_spins", "0"),
          std::pair("manage.max_ops", "0"), std::pair("manage.max_ops", "65537"),
          std::pair("manage.min_ready", "0"), std::pair("manage.backlog", "-1"),
          std::pair("manage.backlog", "65537"), std::pair("manage.forced", "perhaps")}) {
      try {
        weft::configure(key, value);
        ADD_FAILURE() << key << " = " << value << " is accepted";
      } catch (const weft::error &e) {
        EXPECT_EQ(e.code(), weft::errc::bad_setting);
        EXPECT_NE(std::string(e.what()).find(key), std::string::npos) << e.what();
      }
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

std::string refusal_of_start() {
  try {
    weft::start();
  } catch (const weft::error &e) {
    return e.code() == weft::errc::bad_setting ? e.what() : "another code";
  }
  return "it starts";
}

TEST(manager_modes, forced_is_for_central) {
  auto end = test::in_process(with("hybrid", {{"WEFT_MANAGE_FORCED", "true"}}), [] {
    EXPECT_NE(refusal_of_start().find("manage.forced"), std::string::npos);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, a_set_of_managers_must_hold_a_worker) {
  auto end = test::in_process(
      with("distributed", {{"WEFT_MANAGE_WORKERS", "4090"}, {"WEFT_BIND", "compact"}}),
      [] { EXPECT_NE(refusal_of_start().find("leaves no worker"), std::string::npos); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, a_set_of_managers_needs_bound_workers) {
  auto end = test::in_process(with("distributed", {{"WEFT_MANAGE_WORKERS", "0"}}), [] {
    EXPECT_NE(refusal_of_start().find("not bound"), std::string::npos);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, a_set_of_managers_is_a_list_or_a_class) {
  auto end = test::in_process(
      with("distributed", {{"WEFT_MANAGE_WORKERS", "fast"}, {"WEFT_BIND", "compact"}}),
      [] { EXPECT_NE(refusal_of_start().find("list of CPUs"), std::string::npos); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(manager_modes, those_of_big_cores_do_all_of_it) {
  auto end = test::in_process(
      with("distributed",
           {{"WEFT_MANAGE_WORKERS", "big"}, {"WEFT_BIND", "compact"}, {"WEFT_WORKERS", "3"}}),
      [] { EXPECT_EQ(chains(5, 2000), chains_in_order(5, 2000)); });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Each runtime's share of the workers: what a sample finds, and what readers make of it.
#include "observe/segment.hpp"
#include "observe/shares.hpp"
#include "observe/store.hpp"
#include "observe/timekeeper.hpp"
#include "support/case_process.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <unistd.h>
#include <weft/counters.hpp>
#include <weft/layer/thread.hpp>
#include <weft/sync/event.hpp>
#include <weft/weft.hpp>

using namespace weft::rt;
using weft::layer::client;

namespace {

const std::map<client, std::string> k_counters{{client::openmp, "/runtimes/time/openmp"},
                                               {client::tbb, "/runtimes/time/tbb"},
                                               {client::glt, "/runtimes/time/glt"},
                                               {client::rayon, "/runtimes/time/rayon"},
                                               {client::other, "/runtimes/time/other"}};

double value(const char *name) { return weft::counters::take().value(name); }
double time_of(client c) { return value(k_counters.at(c).c_str()); }

/// Computes until it is let go.
struct computing {
  std::atomic<bool> begun{false}, may_end{false}, ended{false};
  void run() {
    begun = true;
    while (!may_end)
      asm volatile("");
    ended = true;
  }
  void await_begin() const {
    while (!begun)
      usleep(100);
  }
  void end() {
    may_end = true;
    while (!ended)
      usleep(100);
  }
};

/// The first thread waits outside of Weft, so that one worker runs everything.
const std::vector<std::pair<std::string, std::string>> k_one_worker{{"WEFT_WORKERS", "2"},
                                                                    {"WEFT_CONFIG", ""}};

void start(computing &c, client runs, std::size_t bytes) {
  weft::layer::start_thread(bytes, [](void *p) { static_cast<computing *>(p)->run(); }, &c, runs);
  c.await_begin();
}

/// Returns whether nothing is charged to any runtime while `c`, which has begun, computes.
bool charges_nobody(computing &c) {
  c.await_begin();
  std::map<client, double> before;
  for (const auto &[runs, name] : k_counters)
    before[runs] = time_of(runs);
  const double busy = value("/threads/time/overall") - value("/threads/time/idle");
  while (value("/threads/time/overall") - value("/threads/time/idle") < busy + 5e6)
    usleep(1000);
  bool same = true;
  for (const auto &[runs, name] : k_counters)
    same &= before[runs] == time_of(runs);
  c.end();
  return same;
}

} // namespace

TEST(runtime_shares, a_lightweight_thread_is_charged_to_its_runtime_alone) {
  const auto end = test::in_process(k_one_worker, [] {
    for (const std::size_t bytes :
         {std::size_t{0},
          std::size_t{1} << 20}) // of a stack that is used again, and of one of its own
      for (const auto &[runs, name] : k_counters) {
        computing c;
        start(c, runs, bytes);
        std::map<client, double> before;
        for (const auto &[other, unused] : k_counters)
          before[other] = time_of(other);
        while (time_of(runs) == before[runs])
          usleep(1000);
        for (const auto &[other, unused] : k_counters)
          EXPECT_TRUE(other == runs || before[other] == time_of(other))
              << name << " is charged to another runtime";
        c.end();
      }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime_shares, tasks_are_charged_to_nobody_also_on_the_stack_of_a_thread_that_has_ended) {
  const auto end = test::in_process(k_one_worker, [] {
    for (int i = 0; i < 20; ++i) { // stacks of the common size, which the worker takes for its loop
      computing c;
      start(c, client::openmp, 0);
      c.end();
    }
    // Each task that waits keeps its stack, so the worker goes on on one that a thread has left.
    weft::event go_on;
    for (int i = 0; i < 5; ++i) {
      computing c;
      weft::spawn([&c] { c.run(); });
      EXPECT_TRUE(charges_nobody(c));
      weft::spawn([&go_on] { go_on.wait(); });
    }
    go_on.set();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime_shares, a_parked_thread_is_not_charged_and_is_when_it_goes_on) {
  const auto end = test::in_process(k_one_worker, [] {
    struct parked {
      std::atomic<weft::detail::runnable *> frame{nullptr};
      computing after;
    } p;
    weft::layer::start_thread(
        0,
        [](void *arg) {
          weft::layer::park([](weft::detail::runnable &self,
                               void *to) { static_cast<parked *>(to)->frame = &self; },
                            arg);
          static_cast<parked *>(arg)->after.run();
        },
        &p, client::tbb);
    while (!p.frame)
      usleep(100);
    computing task;
    weft::spawn([&task] { task.run(); });
    EXPECT_TRUE(charges_nobody(task));
    weft::layer::unpark(*p.frame.load());
    p.after.await_begin();
    for (const double before = time_of(client::tbb); time_of(client::tbb) == before;)
      usleep(1000);
    p.after.end();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime_shares, a_task_may_run_for_a_runtime_for_a_while) {
  const auto end = test::in_process(k_one_worker, [] {
    EXPECT_EQ(weft::layer::set_client(client::glt), client::weft);
    EXPECT_EQ(weft::layer::set_client(client::weft), client::weft)
        << "a thread's own stack has none";
    computing within, after;
    weft::spawn([&] {
      {
        const weft::layer::running_for glt(client::glt);
        EXPECT_EQ(weft::layer::set_client(client::glt), client::glt);
        within.run();
      }
      after.run();
    });
    within.await_begin();
    while (time_of(client::glt) == 0)
      usleep(1000);
    within.end();
    EXPECT_TRUE(charges_nobody(after));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime_shares, what_the_runtimes_leave_are_tasks_and_idleness) {
  const auto end = test::in_process({}, [] {
    open_store({2, 2, 8, false, false, false});
    const auto read = [] { return read_segment(store_base(), program_state::running); };
    for (unsigned id = 0; id < 2; ++id) {
      counter_block &c = block_of_slot(id, block_kind::worker);
      put(c.overall, 100'000);
      put(c.idle, 20'000);
    }
    EXPECT_TRUE(shares_of(read(), read()).empty()) << "only tasks have run";
    EXPECT_EQ(text_of({}), "");
    const reading before = read();
    put(block_of_slot(0, block_kind::worker).in_openmp, 60'000);
    put(block_of_slot(1, block_kind::worker).in_openmp, 30'000);
    put(block_of_slot(1, block_kind::worker).in_tbb, 45'000);
    put(process_counters().in_pools, 50'000);
    EXPECT_EQ(text_of(shares_of(read(), read())),
              "OpenMP 36 %, left to other pools 20 %, TBB 18 %, tasks 10 %, idle 16 %");
    const auto shares = shares_of(read(), read());
    std::uint64_t all = 0;
    for (const time_share &s : shares)
      all += s.ns;
    EXPECT_EQ(all, 250'000u) << "all time is somebody's";
    EXPECT_EQ(shares.back().name, "idle");
    EXPECT_FALSE(shares_of(read(), before).empty()) << "it has used another runtime by now";
    put(block_of_slot(0, block_kind::worker).in_openmp, 900'000); // samples may run ahead
    for (const time_share &s : shares_of(read(), read()))
      EXPECT_TRUE(s.name != "tasks" || s.ns == 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

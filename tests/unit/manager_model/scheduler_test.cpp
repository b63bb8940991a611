// SPDX-License-Identifier: Apache-2.0
// The model of the delegated scheduler on few items, whose times are worked out by hand in the
// comments, and what must hold for many.
#include "scheduler.hpp"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using scheduler_model::lock_mode;
using scheduler_model::outcome;
using scheduler_model::simulate;
using numbers = scheduler_model::parameters; // of this model

numbers scheduler_by_hand(lock_mode mode, unsigned workers, double items) {
  numbers p;
  p.mode = mode;
  p.workers = workers;
  p.items = items;
  p.line = 10;
  p.far = 100;
  p.turn = p.publish = 1;
  p.take = 2;
  p.body = 100;
  p.ticket = p.state = p.jitter = 0;
  return p;
}

TEST(scheduler_model, one_worker_adds_everything_up) {
  numbers p = scheduler_by_hand(lock_mode::combining, 1, 3);
  p.ticket = 5;
  EXPECT_EQ(simulate(p).time_ns, 3 * (2 + 1 + 1 + 100) + 2 * 5);
  EXPECT_EQ(simulate(p).hand_overs + simulate(p).served, 0u);
}

TEST(scheduler_model, a_plain_lock_is_handed_from_worker_to_worker) {
  // Worker 0 has its item at 2 + 1 + 1 = 4. Worker 1: its turn is two lines away, 24, item at 28;
  // worker 2 at 52, ended at 152.
  const outcome o = simulate(scheduler_by_hand(lock_mode::plain, 3, 3));
  EXPECT_EQ(o.time_ns, 152);
  EXPECT_EQ(o.hand_overs, 2u);
  EXPECT_EQ(o.served, 0u);
  EXPECT_EQ(o.wait_ns, (4 + 28 + 52) / 3.0);
  numbers fetches = scheduler_by_hand(lock_mode::plain, 3, 3);
  fetches.state = 2; // two lines more at each of two hand-overs
  EXPECT_EQ(simulate(fetches).time_ns, 152 + 40);
}

TEST(scheduler_model, an_owner_serves_one_waiter_after_the_other) {
  // Worker 1: entry and wish 20, item 22, counts 23, result 33, turn 44, seen at 64. Worker 2: 88,
  // 108, ended at 208. The owner itself at 92.
  const outcome o = simulate(scheduler_by_hand(lock_mode::delegation, 3, 3));
  EXPECT_EQ(o.time_ns, 208);
  EXPECT_EQ(o.runs, 2u);
  EXPECT_EQ(o.served, 2u);
  EXPECT_EQ(o.wait_ns, (64 + 108 + 92) / 3.0);
}

TEST(scheduler_model, an_owner_serves_a_run_together) {
  // Both entries, wishes and results side by side: 2 * 10 + 2 * 2 + 1 + 10 = 35; turns at 46 and 57,
  // seen at 66 and 77; the owner itself at 61.
  numbers p = scheduler_by_hand(lock_mode::combining, 3, 3);
  const outcome o = simulate(p);
  EXPECT_EQ(o.time_ns, 177);
  EXPECT_EQ(o.runs, 1u);
  EXPECT_EQ(o.served, 2u);
  EXPECT_EQ(o.wait_ns, (66 + 77 + 61) / 3.0);
  p.overlap = 1; // one line after the other: 30 more
  EXPECT_EQ(simulate(p).time_ns, 207);
  p.run = 1;
  EXPECT_EQ(simulate(p).time_ns, 208) << "as without runs";
}

TEST(scheduler_model, another_node_is_further_away) {
  // Worker 1 is on the other node: 2 * 100 + 2 + 1 + 100 = 303, turn 404, seen at 604.
  numbers p = scheduler_by_hand(lock_mode::combining, 2, 2);
  p.nodes = 2;
  EXPECT_EQ(simulate(p).time_ns, 704);
  p.mode = lock_mode::per_node; // each is alone
  EXPECT_EQ(simulate(p).time_ns, 104);
  p.items = 3; // two of them on the first node
  EXPECT_EQ(simulate(p).time_ns, 208);
}

TEST(scheduler_model, no_run_is_faster_than_its_bodies) {
  for (const lock_mode mode :
       {lock_mode::plain, lock_mode::delegation, lock_mode::combining, lock_mode::per_node})
    for (const unsigned workers : {1U, 2U, 8U, 64U}) {
      numbers p;
      p.mode = mode;
      p.workers = workers;
      p.items = 5000;
      p.jitter = 0;
      const outcome o = simulate(p);
      EXPECT_GE(o.time_ns, p.items * p.body / workers) << name_of(mode) << workers;
      EXPECT_LE(o.served, p.items);
    }
}

TEST(scheduler_model, runs_help_where_workers_are_many) {
  numbers p;
  p.workers = 256;
  p.nodes = 8;
  p.items = 20'000;
  const auto time_with = [&p](lock_mode mode) {
    p.mode = mode;
    return simulate(p).time_ns;
  };
  const double plain = time_with(lock_mode::plain), one = time_with(lock_mode::delegation),
               runs = time_with(lock_mode::combining), nodes = time_with(lock_mode::per_node);
  EXPECT_LT(one, plain);
  EXPECT_LT(runs, one / 2);
  EXPECT_LT(nodes, runs);
}

TEST(scheduler_model, equal_seeds_give_equal_runs) {
  numbers p;
  p.mode = lock_mode::combining;
  p.workers = 16;
  p.items = 2000;
  const double first = simulate(p).time_ns;
  EXPECT_EQ(simulate(p).time_ns, first);
  p.seed = 2;
  EXPECT_NE(simulate(p).time_ns, first);
}

TEST(scheduler_model, refuses_what_makes_no_sense) {
  numbers p;
  p.workers = 3;
  p.nodes = 2;
  EXPECT_THROW(static_cast<void>(simulate(p)), std::invalid_argument);
  for (const char *wrong : {"line", "line=", "line=x", "line=-1", "overlap=0", "speed=1", "=1"})
    EXPECT_THROW(set(p, wrong), std::invalid_argument) << wrong;
  set(p, "line=25");
  EXPECT_EQ(p.line, 25);
}

TEST(scheduler_model, reads_what_the_calibration_writes) {
  numbers p;
  std::istringstream costs("# Costs in nanoseconds\nline     = 41.5     # half of the way\n\nfar = 124.5\n");
  read(p, costs, "costs.toml");
  EXPECT_EQ(p.line, 41.5);
  EXPECT_EQ(p.far, 124.5);
  EXPECT_EQ(p.turn, numbers{}.turn) << "what the file does not name stays";
  for (const auto &[wrong, says] : {std::pair{"line = 5\nlime = 6\n", "costs.toml:2: 'lime = 6' sets no parameter"},
                                    {"line = fast\n", "costs.toml:1: line 'fast' is not a number"}}) {
    std::istringstream text(wrong);
    try {
      read(p, text, "costs.toml");
      ADD_FAILURE() << wrong;
    } catch (const std::invalid_argument &e) {
      EXPECT_EQ(std::string(e.what()).rfind(says, 0), 0u) << e.what();
    }
  }
}

} // namespace

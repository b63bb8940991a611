// SPDX-License-Identifier: Apache-2.0
// Whether batches of tiny tasks pay, in model time: docs/design/adaptation.md has the numbers.
#include "batches.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace {

using namespace batch_model;

constexpr way k_ways[] = {way::single, way::thief, way::creator};

double per_task(unsigned workers, double body_ns, way how, double suspends = 0) {
  parameters p;
  p.workers = workers;
  p.body_ns = body_ns;
  p.suspends = suspends;
  return simulate(p, how).time_ns / static_cast<double>(p.tasks);
}

TEST(batch_model, one_worker_adds_everything_up) {
  parameters p;
  p.workers = 1;
  p.tasks = 16;
  p.body_ns = 100;
  const double each = p.create_ns + p.run_ns + p.body_ns;
  EXPECT_DOUBLE_EQ(simulate(p, way::single).time_ns, 16 * (each + p.push_ns + p.pop_ns));
  EXPECT_DOUBLE_EQ(simulate(p, way::thief).time_ns, 16 * (each + p.push_ns + p.pop_ns));
  EXPECT_DOUBLE_EQ(simulate(p, way::creator).time_ns, 16 * each + 2 * (p.push_ns + p.pop_ns));
}

TEST(batch_model, a_thief_takes_the_last_task_while_the_creator_looks_for_it) {
  parameters p;
  p.tasks = 1;
  p.body_ns = 1000;
  p.pop_ns = 0;
  const auto seen = simulate(p, way::single);
  EXPECT_EQ(seen.by_creator, 1u);
  EXPECT_DOUBLE_EQ(seen.time_ns, p.create_ns + p.push_ns + p.run_ns + p.body_ns);
}

TEST(batch_model, each_task_runs_once) {
  for (const way how : k_ways)
    for (const unsigned workers : {1u, 2u, 3u, 16u, 64u})
      for (const double suspends : {0.0, 0.1, 1.0}) {
        parameters p;
        p.workers = workers;
        p.tasks = 1003; // the last group is not full
        p.suspends = suspends;
        const auto seen = simulate(p, how);
        EXPECT_EQ(seen.ran, 1003u) << name_of(how) << ' ' << workers;
        EXPECT_GE(seen.time_ns, 1003 * p.create_ns) << "one creator";
        if (how == way::creator && suspends == 1.0) {
          EXPECT_GE(seen.bursts, 1003u / 8) << "each group bursts at its first member";
        }
      }
}

// A steal takes two lines, and the words of the creator's deque serve one thief at a time: batches save
// that, down to the time of the creation.
TEST(batch_model, batches_pay_where_many_thieves_take_tiny_tasks_of_one_creator) {
  for (const double body : {0.0, 200.0, 1000.0})
    for (const way how : {way::thief, way::creator}) { // one thief is never kept waiting
      EXPECT_GE(per_task(2, body, how), 0.65 * per_task(2, body, way::single)) << name_of(how) << ' ' << body;
      EXPECT_LE(per_task(2, body, how), 1.02 * per_task(2, body, way::single)) << name_of(how) << ' ' << body;
    }
  for (const way how : {way::thief, way::creator}) {
    EXPECT_LE(per_task(16, 200, how), 0.75 * per_task(16, 200, way::single)) << name_of(how);
    EXPECT_GE(per_task(16, 5000, how), 0.9 * per_task(16, 5000, way::single)) << name_of(how);
  }
}

TEST(batch_model, a_thiefs_batch_gains_what_a_creators_group_gains) {
  for (const unsigned workers : {4u, 16u, 64u})
    for (const double body : {100.0, 200.0, 1000.0}) {
      const double of_thief = per_task(workers, body, way::thief), of_creator = per_task(workers, body, way::creator);
      EXPECT_LE(of_thief, 1.2 * of_creator) << workers << ' ' << body;
    }
}

TEST(batch_model, members_that_suspend_cost_a_burst_and_no_more) {
  for (const unsigned workers : {2u, 16u})
    EXPECT_LE(per_task(workers, 200, way::creator, 0.05), 1.25 * per_task(workers, 200, way::creator)) << workers;
}

TEST(batch_model, equal_seeds_give_equal_runs) {
  EXPECT_EQ(per_task(16, 200, way::thief), per_task(16, 200, way::thief));
}

TEST(batch_model, refuses_what_makes_no_sense) {
  const auto refuses = [](auto change) {
    parameters p;
    change(p);
    EXPECT_THROW(static_cast<void>(simulate(p, way::single)), std::invalid_argument);
  };
  refuses([](parameters &p) { p.workers = 0; });
  refuses([](parameters &p) { p.workers = 5000; });
  refuses([](parameters &p) { p.tasks = 0; });
  refuses([](parameters &p) { p.batch = 0; });
  refuses([](parameters &p) { p.create_ns = 0; });
  refuses([](parameters &p) { p.run_ns = -1; });
  refuses([](parameters &p) { p.look_ns = 0; });
  refuses([](parameters &p) { p.suspends = 2; });
}

} // namespace

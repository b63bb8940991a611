// SPDX-License-Identifier: Apache-2.0
// The model of the managers on graphs that are small enough to work out by hand. The sums in the comments are
// the hand's.
#include "applications.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

namespace {

using namespace manager_model;

/// Simple numbers; what a case is not about costs nothing.
parameters by_hand(manage_mode mode, unsigned workers) {
  parameters p;
  p.mode = mode;
  p.workers = workers;
  p.create = 10;
  p.submit = 5;
  p.done = 3;
  p.remove = 2;
  p.push = 1;
  p.pop = 1;
  p.backlog = 0;
  p.lock = p.transfer = p.poll = p.schedule = p.steal = p.wake = 0;
  return p;
}

task_graph independent(int n, double body) {
  graph_builder g;
  for (int i = 0; i < n; ++i)
    g.add(0, body, {{static_cast<std::uint64_t>(i), mode_of::inout}});
  return g.build();
}

task_graph chain(int n, double body) {
  graph_builder g;
  for (int i = 0; i < n; ++i)
    g.add(0, body, {{0, mode_of::inout}});
  return g.build();
}

TEST(direct, one_worker_adds_everything_up) {
  // two children: 2 * (10 + 5); each body 100, done 3, deleted 2; the second one's deletion comes before the
  // main task goes on
  EXPECT_EQ(simulate(independent(2, 100), by_hand(manage_mode::direct, 1)).time_ns, 30 + 2 * 105);
}

TEST(direct, two_workers_share_independent_tasks) {
  // worker 0 creates until 60. Worker 1: task 1 15-115, done 118, deleted 120; task 3 120-220, 225. Worker 0:
  // task 2 60-160, 165; task 4 165-265, done 268: worker 1, asleep since 225, goes on with the main task.
  const outcome o = simulate(independent(4, 100), by_hand(manage_mode::direct, 2));
  EXPECT_EQ(o.time_ns, 268);
  EXPECT_EQ(o.creator_ns, 60);
  EXPECT_EQ(o.body_ns.value(), 100);
  EXPECT_EQ(o.executed, 5u) << "the main task as well";
}

TEST(direct, a_chain_is_one_worker_s) {
  // task 1 15-115, done 118, deleted 120; task 2, kept, 120-220, 225; task 3 225-325, done 328
  const outcome o = simulate(chain(3, 100), by_hand(manage_mode::direct, 2));
  EXPECT_EQ(o.time_ns, 328);
  EXPECT_EQ(o.counts.peak().in_graph, 3);
}

TEST(direct, a_worker_that_works_on_the_graph_has_cold_caches_in_the_next_body) {
  parameters p = by_hand(manage_mode::direct, 2);
  p.pollution = 0.5;
  EXPECT_EQ(simulate(chain(3, 100), p).time_ns, 328 + 50 + 50)
      << "the first body came to a worker that had not";
}

TEST(direct, a_lock_is_taken_in_turn) {
  // submission 1 10-15, 2 25-30, 3 40-45; task 1, of 28, ends at 43: its done waits from 43 to 45, 45-48.
  // Deleted 50; task 3 50-78, done
  // 81. Worker 0 runs task 2 from 45, 73-76. The lock costs 0, so no worker waits for more than 2.
  const outcome o = simulate(independent(3, 28), by_hand(manage_mode::direct, 2));
  EXPECT_EQ(o.time_ns, 81);
  EXPECT_EQ(o.lock_ns.sum, 2);
  EXPECT_EQ(o.lock_ns.n, 6u);
  EXPECT_EQ(o.done_ns.sum, 3 * 3 + 2);
  parameters p = by_hand(manage_mode::direct, 2);
  p.graph_lock = 0; // done of task 1 43-46, deleted 48; task 3 48-76, done 79
  EXPECT_EQ(simulate(independent(3, 28), p).time_ns, 79);
}

TEST(direct, a_graph_moves_between_caches) {
  parameters p = by_hand(manage_mode::direct, 2);
  p.transfer = 7;
  // task 1 15-115 on worker 1, done with the move 125, deleted 127; then it stays there: 227, 230
  EXPECT_EQ(simulate(chain(2, 100), p).time_ns, 230);
}

TEST(without_locks, a_task_moves_to_who_takes_it) {
  // worker 1 takes task 1 at 15 and has it at 22, body until 122, deleted 127. Worker 0: task 2, its own, 30-130, done 133: the main task
  // goes on with worker 1.
  parameters p = by_hand(manage_mode::direct, 2);
  p.graph_lock = 0;
  p.transfer = 7;
  EXPECT_EQ(simulate(independent(2, 100), p).time_ns, 133);
}

TEST(without_locks, what_an_action_needs_moves_at_once) {
  // task 1 22-122 on worker 1. Task 2 comes behind it: 25-37, with one move. Done of task 1: itself and task 2 in one move, 122-132, deleted
  // 134; task 2, kept, 134-234, done 237.
  parameters p = by_hand(manage_mode::direct, 2);
  p.graph_lock = 0;
  p.transfer = 7;
  EXPECT_EQ(simulate(chain(2, 100), p).time_ns, 237);
}

TEST(direct, the_throttle_holds_the_creator_back) {
  parameters p = by_hand(manage_mode::direct, 1);
  const outcome free = simulate(independent(20, 100), p);
  EXPECT_EQ(free.counts.peak().in_graph, 20);
  p.throttle = 4;
  const outcome held = simulate(independent(20, 100), p);
  EXPECT_LE(held.counts.peak().in_graph, 6)
      << "4, and a quarter more and one when nothing else can run";
  EXPECT_EQ(held.time_ns, free.time_ns) << "one worker has the same to do";
}

TEST(central, the_manager_applies_everything) {
  // created 10, message at 11; popped 12, submitted 17; body 17-117; done pushed 118, popped 119, applied
  // 122: the main task ends.
  const outcome o = simulate(independent(1, 100), by_hand(manage_mode::central, 1));
  EXPECT_EQ(o.time_ns, 122);
  EXPECT_EQ(o.creator_ns, 11);
  EXPECT_EQ(o.counts.peak().queued, 1);
}

TEST(central, workers_bodies_are_warm) {
  parameters p = by_hand(manage_mode::central, 2);
  p.pollution = 1;
  EXPECT_EQ(simulate(chain(5, 100), p).body_ns.value(), 100);
}

TEST(central, forced_without_locks_pays_for_none) {
  parameters p = by_hand(manage_mode::central, 1);
  p.lock = 4;
  EXPECT_EQ(simulate(independent(1, 100), p).time_ns, 122 + 2 * 4);
  p.forced = 1;
  EXPECT_EQ(simulate(independent(1, 100), p).time_ns, 122);
}

TEST(hybrid, with_nothing_ready_a_worker_applies_the_end_itself) {
  // as central until 117; no task is ready for the worker, so it ends the task itself: 120, deleted 122, then
  // the main task
  const outcome o = simulate(independent(1, 100), by_hand(manage_mode::hybrid, 1));
  EXPECT_EQ(o.time_ns, 122);
  EXPECT_EQ(o.applied_by_workers, 1u);
}

TEST(hybrid, only_siblings_of_queued_submissions_are_pushed) {
  graph_builder g; // the submissions of two creators at once
  const task_id a = g.add(0, 0, {{1, mode_of::inout}}), b = g.add(0, 0, {{2, mode_of::inout}});
  for (task_id creator : {a, b})
    for (std::uint64_t i = 0; i < 20; ++i)
      g.add(creator, 10, {{i, mode_of::inout}});
  const task_graph graph = g.build();
  parameters p = by_hand(manage_mode::hybrid, 2);
  p.min_tasks = 0;
  p.pop = 100; // a slow manager
  const outcome o = simulate(graph, p);
  EXPECT_EQ(o.executed, 43u);
  EXPECT_GE(o.applied_by_workers, 20u);
}

TEST(distributed, an_idle_worker_becomes_a_manager) {
  // messages at 11 and 22; popped 23, submitted 28; 29, 34. Body 34-134, pushed 135; body 135-235, pushed
  // 236; as a manager: popped 237, done 240, deleted 242; 243, 246, 248; the main task is ready, and the
  // manager finds no more.
  const outcome o = simulate(independent(2, 100), by_hand(manage_mode::distributed, 1));
  EXPECT_EQ(o.time_ns, 248);
  EXPECT_EQ(o.creator_ns, 22);
  EXPECT_EQ(o.counts.peak().queued, 2);
  EXPECT_EQ(o.counts.peak().in_graph, 2);
}

TEST(distributed, a_worker_with_little_to_go_on_with_acts_itself) {
  parameters p = by_hand(manage_mode::distributed, 1);
  p.backlog = 16;
  const outcome o = simulate(independent(2, 100), p);
  EXPECT_EQ(o.time_ns, 30 + 2 * 105) << "as direct";
  EXPECT_EQ(o.counts.peak().queued, 0);
}

TEST(distributed,
     a_worker_with_enough_posts_while_others_idle_and_applies_it_itself_when_it_has_little) {
  // two submitted at 15 and 30, for which two workers are on their way; a message at 41, while the fourth idles. Bodies 41-141, deleted 146;
  // 146-246, 251; the message: 252, 257; body 257-357, done 360, deleted 362.
  parameters p = by_hand(manage_mode::distributed, 4);
  p.backlog = 2;
  p.wake = 1000;
  const outcome o = simulate(independent(3, 100), p);
  EXPECT_EQ(o.time_ns, 362);
  EXPECT_EQ(o.creator_ns, 41);
  EXPECT_EQ(o.counts.peak().queued, 1);
  EXPECT_EQ(o.counts.peak().in_graph, 2);
}

TEST(distributed, no_worker_posts_while_none_idles) {
  parameters p = by_hand(manage_mode::distributed, 1);
  p.backlog = 2;
  const outcome o = simulate(independent(400, 100), p);
  EXPECT_EQ(o.counts.peak().queued, 0);
  p.mode = manage_mode::direct;
  EXPECT_EQ(o.time_ns, simulate(independent(400, 100), p).time_ns);
}

TEST(automatic, is_near_the_better_of_the_two) {
  for (const double move :
       {0.0, 2000.0}) { // without moves it matters little; with them managers are slow
    const task_graph g = synthetic(20000, 1000);
    parameters p;
    p.workers = 4;
    p.graph_lock = 0;
    p.backlog = 0;
    p.transfer = move;
    double ns[3] = {};
    for (const manage_mode mode :
         {manage_mode::direct, manage_mode::distributed, manage_mode::automatic}) {
      p.mode = mode;
      ns[mode == manage_mode::direct        ? 0
         : mode == manage_mode::distributed ? 1
                                            : 2] = simulate(g, p).time_ns;
    }
    EXPECT_LT(ns[2], 1.1 * std::min(ns[0], ns[1])) << move << ": " << ns[0] << ' ' << ns[1];
  }
}

TEST(distributed, managers_leave_when_enough_is_ready) {
  parameters p = by_hand(manage_mode::distributed, 1);
  p.min_ready = 3;
  const outcome o = simulate(independent(50, 100), p);
  EXPECT_EQ(o.executed, 51u);
  EXPECT_EQ(o.counts.peak().ready, 8) << "the queue's share is finished first";
  p.max_ops = 1;
  EXPECT_EQ(simulate(independent(50, 100), p).counts.peak().ready, 3);
}

TEST(distributed, keeps_fewer_tasks_in_the_graph_than_direct) {
  const task_graph g = matmul(16, 2000);
  const outcome direct = simulate(g, by_hand(manage_mode::direct, 8)),
                distributed = simulate(g, by_hand(manage_mode::distributed, 8));
  EXPECT_LT(distributed.counts.peak().in_graph, direct.counts.peak().in_graph / 2);
  EXPECT_GT(distributed.counts.peak().queued, distributed.counts.peak().in_graph);
}

constexpr manage_mode k_modes[] = {manage_mode::direct, manage_mode::central, manage_mode::hybrid,
                                   manage_mode::distributed, manage_mode::automatic};

TEST(every_mode, runs_every_task_of_every_program_and_is_no_faster_than_it_can_be) {
  const task_graph graphs[] = {synthetic(200, 1000), matmul(6, 1000), cholesky(9, 1000),
                               sparselu(12, 1000), nbody(6, 3, 1000)};
  for (const task_graph &g : graphs)
    for (manage_mode mode : k_modes)
      for (unsigned workers : {1u, 2u, 3u, 16u})
        for (double throttle : {0.0, 10.0})
          for (double managers : {1.0, 1e9}) {
            parameters p;
            p.backlog = managers == 1.0 ? 0 : 4;
            p.graph_lock = throttle == 0 ? 1 : 0;
            p.mode = mode;
            p.workers = workers;
            p.throttle = throttle;
            p.max_managers = managers;
            p.jitter = 0;
            const outcome o = simulate(g, p);
            EXPECT_EQ(o.executed, g.size()) << name_of(mode) << workers;
            EXPECT_GE(o.time_ns, g.critical_path_ns());
            EXPECT_GE(o.time_ns * workers, g.total_body_ns());
            EXPECT_EQ(o.counts.samples().back().in_graph, 0);
            EXPECT_EQ(o.counts.samples().back().ready, 0);
          }
}

TEST(every_mode, is_a_function_of_its_parameters) {
  const task_graph g = cholesky(12, 3000);
  for (manage_mode mode : k_modes) {
    parameters p;
    p.mode = mode;
    p.workers = 7;
    p.jitter = 0.3;
    const outcome a = simulate(g, p), b = simulate(g, p);
    EXPECT_EQ(a.time_ns, b.time_ns);
    EXPECT_EQ(a.steals, b.steals);
    p.seed = 2;
    EXPECT_NE(simulate(g, p).time_ns, a.time_ns);
  }
}

TEST(every_mode, refuses_what_does_not_go_together) {
  parameters p;
  p.workers = 0;
  EXPECT_THROW(static_cast<void>(simulate(chain(1, 1), p)), std::invalid_argument);
  p.workers = 1;
  p.lower_bound = 9;
  EXPECT_THROW(static_cast<void>(simulate(chain(1, 1), p)), std::invalid_argument);
}

} // namespace

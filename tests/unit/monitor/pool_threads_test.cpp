// SPDX-License-Identifier: Apache-2.0
// pool_thread_policy alone, in a world of numbers.
#include "monitor/pool_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

namespace {

using namespace weft::rt;
using weft::layer::pool_thread;

constexpr std::uint64_t k_ms = 1'000'000;

struct numbers final : pool_thread_world {
  external_list<pool_thread> list;
  std::deque<pool_thread> records;
  std::map<int, std::uint64_t> cpu;
  std::map<int, bool> asleep;
  int worker_tid = 0;
  unsigned cpus = 4, workers = 4, least = 1, most = 0, away = 0, may_go = 4;

  external_list<pool_thread> &pool_threads() override { return list; }
  unsigned shared_cpus() const override { return cpus; }
  std::uint64_t cpu_ns_of(int tid) const override { return cpu.at(tid); }
  bool sleeps(int tid) const override { return asleep.at(tid); }
  bool has_worker(int tid) const override { return tid == worker_tid; }
  unsigned all_workers() const override { return workers; }
  unsigned least_workers() const override { return least; }
  unsigned most_workers() const override { return most ? most : workers; }
  unsigned stepped_back() const override { return away; }
  bool step_back() override { return away < may_go ? ++away, true : false; }
  bool call_back() override { return away > 0 ? --away, true : false; }

  pool_thread &add(int tid) {
    pool_thread &other = records.emplace_back();
    other.tid = tid;
    cpu[tid] = 1;
    asleep[tid] = false;
    list.add(other);
    return other;
  }
};

struct pool_thread_policies : testing::Test {
  numbers world;
  pool_thread_policy policy{world};
  std::uint64_t now = 1000 * k_ms;
  pool_thread_policy::assessment look(std::uint64_t after = 10 * k_ms) {
    return policy.look(now += after);
  }
};

TEST_F(pool_thread_policies, without_pool_threads_watch_nothing_and_keep_all_workers) {
  world.workers = 8; // more than cpus: the user's choice
  const auto seen = look();
  EXPECT_FALSE(seen.watches);
  EXPECT_EQ(world.away, 0u);
}

TEST_F(pool_thread_policies, a_worker_steps_back_for_each_pool_thread_that_computes) {
  world.add(1);
  world.add(2);
  const auto seen = look(); // both are new
  EXPECT_TRUE(seen.watches);
  EXPECT_EQ(seen.computing, 2u);
  EXPECT_EQ(world.away, 2u);
}

TEST_F(pool_thread_policies, leave_the_least_number_of_workers) {
  for (int tid = 1; tid <= 9; ++tid)
    world.add(tid);
  (void)look();
  EXPECT_EQ(world.away, 3u);
  world.least = 0;
  (void)look();
  EXPECT_EQ(world.away, 4u);
  world.least = 9; // more than there are
  (void)look();
  EXPECT_EQ(world.away, 0u);
}

TEST_F(pool_thread_policies, workers_beyond_the_most_step_back_and_need_no_watching) {
  world.most = 3;
  auto seen = look();
  EXPECT_EQ(world.away, 1u);
  EXPECT_FALSE(seen.watches) << "that is as it should be";
  world.most = 9;
  (void)look();
  EXPECT_EQ(world.away, 0u);
  world.most = 0; // as if 1: the first thread works
  world.workers = 1;
  (void)look();
  EXPECT_EQ(world.away, 0u);
}

TEST_F(pool_thread_policies, pool_threads_and_the_most_workers_do_not_add_up) {
  world.most = 2;
  pool_thread &other = world.add(1);
  auto seen = look();
  EXPECT_EQ(world.away, 2u) << "there is room for three";
  EXPECT_TRUE(seen.watches) << "the pool thread may wait";
  world.add(2);
  world.add(3);
  seen = look();
  EXPECT_EQ(world.away, 3u);
  EXPECT_TRUE(seen.watches);
  world.records[1].waits = world.records[2].waits = other.waits = 1;
  seen = look();
  EXPECT_EQ(world.away, 2u);
  EXPECT_FALSE(seen.watches);
}

TEST_F(pool_thread_policies, workers_that_cannot_step_back_are_waited_for_a_while) {
  world.most = 1;
  world.may_go = 2;
  for (unsigned i = 0; i < pool_thread_policy::k_most_tries; ++i)
    EXPECT_TRUE(look().watches);
  EXPECT_FALSE(look().watches);
  world.most = 2; // the two that could go
  EXPECT_FALSE(look().watches);
  world.most = 1;
  EXPECT_TRUE(look().watches) << "another change is waited for, too";
}

TEST_F(pool_thread_policies, a_pool_thread_that_waits_gives_its_place_back) {
  pool_thread &other = world.add(1);
  (void)look();
  EXPECT_EQ(world.away, 1u);
  other.waits = 1;
  const auto seen = look(k_ms);
  EXPECT_EQ(seen.computing, 0u);
  EXPECT_EQ(world.away, 0u);
  EXPECT_FALSE(seen.watches);
  other.waits = 0; // it has waited: it counts before it has used any time
  world.asleep[1] = true;
  EXPECT_EQ(look(k_ms).computing, 1u);
}

TEST_F(pool_thread_policies, count_an_eighth_of_the_time_as_computing) {
  world.add(1);
  (void)look();
  world.asleep[1] = true;
  world.cpu[1] += 10 * k_ms / 8;
  EXPECT_EQ(look(10 * k_ms).computing, 1u);
  world.cpu[1] += 10 * k_ms / 8 - 1;
  const auto seen = look(10 * k_ms);
  EXPECT_EQ(seen.computing, 0u);
  EXPECT_TRUE(seen.watches) << "it may go on without a notice";
}

TEST_F(pool_thread_policies, look_again_soon_where_a_pool_thread_may_have_begun_to_wait) {
  world.add(1);
  EXPECT_FALSE(look().doubt);
  world.cpu[1] += 10 * k_ms;
  EXPECT_FALSE(look().doubt) << "it does not sleep";
  world.asleep[1] = true;
  world.cpu[1] += 10 * k_ms;
  auto seen = look();
  EXPECT_TRUE(seen.doubt);
  EXPECT_EQ(seen.computing, 1u);
  world.cpu[1] += k_ms;
  EXPECT_FALSE(look(k_ms).doubt) << "not twice in a row";
  world.cpu[1] += 10 * k_ms;
  EXPECT_TRUE(look().doubt);
  seen = look(k_ms); // it has used nothing
  EXPECT_EQ(seen.computing, 0u);
  EXPECT_EQ(world.away, 0u);
  world.least = world.workers; // no worker can come back
  world.cpu[1] += 10 * k_ms;
  seen = look();
  EXPECT_EQ(seen.computing, 1u);
  EXPECT_FALSE(seen.doubt);
}

TEST_F(pool_thread_policies, count_a_pool_thread_that_waits_for_a_cpu) {
  world.add(1);
  (void)look();
  EXPECT_EQ(look().computing, 1u); // no time used, but not asleep
  world.asleep[1] = true;
  EXPECT_EQ(look().computing, 0u);
}

TEST_F(pool_thread_policies, do_not_count_a_pool_thread_that_spins_on_sched_yield) {
  pool_thread &other = world.add(1);
  (void)look();
  world.cpu[1] += 10 * k_ms;
  other.yields = 100; // one in each 100 us
  EXPECT_EQ(look().computing, 0u);
  world.cpu[1] += 10 * k_ms;
  other.yields = 199; // one less
  EXPECT_EQ(look().computing, 1u);
}

TEST_F(pool_thread_policies, do_not_count_a_pool_thread_whose_thread_a_worker_has) {
  world.add(1);
  world.worker_tid = 1;
  EXPECT_EQ(look().computing, 0u);
}

TEST_F(pool_thread_policies, forget_a_pool_thread_that_has_ended) {
  pool_thread &other = world.add(1);
  (void)look();
  world.cpu[1] = 0;
  const auto seen = look();
  EXPECT_EQ(other.tid, 0);
  EXPECT_EQ(seen.computing, 0u);
  EXPECT_EQ(world.away, 0u);
  EXPECT_FALSE(look().watches);
}

TEST_F(pool_thread_policies, try_again_while_workers_cannot_step_back_or_return) {
  world.may_go = 1;
  world.add(1);
  world.add(2);
  (void)look();
  EXPECT_EQ(world.away, 1u);
  world.may_go = 4;
  (void)look();
  EXPECT_EQ(world.away, 2u);
}

} // namespace

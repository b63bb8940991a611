// SPDX-License-Identifier: Apache-2.0
// Which threads the policy asks to suspend themselves, from states of made-up threads at made-up
// times.
#include "monitor/oversubscription.hpp"
#include "monitor/suspend_word.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace weft::rt;
using weft::layer::external_thread;

constexpr std::uint64_t k_ms = 1'000'000;

struct house final : watched {
  std::array<external_thread, 4> people;
  std::array<std::uint64_t, 4> used{};
  std::uint64_t used_by_all = 0, preempted = 0;
  std::vector<int> asked;
  unsigned workers_busy = 1;
  int asleep = 0; // its tid
  bool can_be_asked = true;
  external_list<external_thread> all;

  house() {
    for (std::size_t i = 0; i < people.size(); ++i) {
      people[i].tid.store(static_cast<int>(i) + 1, std::memory_order_relaxed);
      used[i] = k_ms;
      all.add(people[i]);
    }
  }
  bool can_ask() const override { return can_be_asked; }
  bool ask(int tid) override { return asked.push_back(tid), true; }
  external_list<external_thread> &external_threads() override { return all; }
  unsigned cpus() const override { return 2; }
  unsigned busy() const override { return workers_busy; }
  std::uint64_t process_cpu_ns() const override { return used_by_all; }
  std::uint64_t preemptions() const override { return preempted; }
  std::uint64_t cpu_ns(int tid) const override { return used[static_cast<std::size_t>(tid - 1)]; }
  bool sleeps(int tid) const override { return tid == asleep; }

  unsigned slots() const override { return 0; }
  bool read(unsigned, reading &) const override { return false; }
  bool any_worker_searches() const override { return false; }
  bool work_waits() const override { return false; }
  bool chores_wait() const override { return false; }
  unsigned spares() const override { return 0; }
  bool add_spare() override { return false; }
  void retire_spare(unsigned) override {}
};

/// The first external thread takes part; the others compute outside.
struct oversubscription_test : testing::Test {
  house h;
  oversubscription_policy c{h};
  std::uint64_t now = 1000 * k_ms;
  std::vector<std::size_t> compute{1, 2, 3};

  oversubscription_test() { begin_or_end_region(0); }
  void begin_or_end_region(std::size_t who) {
    h.people[who].participation_seq.fetch_add(1, std::memory_order_relaxed);
  }
  /// The external thread does as it was asked, as in its handler.
  void suspend(std::size_t who) {
    std::uint32_t was = suspend_word<>::k_asked;
    ASSERT_TRUE(
        h.people[who].suspend_request.compare_exchange_strong(was, suspend_word<>::k_suspended));
  }
  bool is_suspended(std::size_t who) {
    return suspend_word<>::is_suspended(h.people[who].suspend_request);
  }
  oversubscription_policy::assessment look(double cpus = 2, std::uint64_t after = 2 * k_ms) {
    now += after;
    for (const std::size_t i : compute)
      h.used[i] += after / 2;
    h.used_by_all += static_cast<std::uint64_t>(cpus * static_cast<double>(after));
    h.asked.clear();
    return c.look(now);
  }
  void two_looks() {
    look();
    look();
  }
};

TEST_F(oversubscription_test, those_that_compute_outside_are_asked) {
  EXPECT_TRUE(look().unsure);
  EXPECT_TRUE(h.asked.empty());
  const auto o = look();
  EXPECT_TRUE(o.presses);
  EXPECT_NE(o.rest_ns, 0u);
  EXPECT_EQ(h.asked, (std::vector<int>{4, 3, 2}));
}

TEST_F(oversubscription_test, no_more_are_asked_than_are_too_many) {
  compute = {2, 3};
  h.workers_busy = 0; // with the one that takes part there are three for two cpus
  two_looks();
  EXPECT_EQ(h.asked, std::vector<int>{4});
}

TEST_F(oversubscription_test, nobody_is_asked_after_a_slice_of_idle_time) {
  two_looks();
  EXPECT_FALSE(look(1, 5 * k_ms).presses);
  EXPECT_TRUE(h.asked.empty());
}

TEST_F(oversubscription_test, cpus_that_others_use_are_not_idle) {
  two_looks();
  for (int i = 0; i < 10; ++i) {
    ++h.preempted;
    EXPECT_TRUE(look(1, 5 * k_ms).presses);
    EXPECT_FALSE(h.asked.empty());
  }
}

TEST_F(oversubscription_test, a_gap_behind_a_region_is_no_idle_time) {
  two_looks();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(look(1).presses);
    EXPECT_TRUE(look(1.8).presses);
  }
}

TEST_F(oversubscription_test, looks_become_rarer_while_nobody_is_to_be_asked) {
  compute.clear();
  two_looks();
  std::uint64_t rest = look().rest_ns, longest = 0;
  EXPECT_LE(rest, 100 * k_ms);
  for (int i = 0; i < 20; ++i, rest = longest) {
    begin_or_end_region(0); // a region, or its end
    (void)look(2, 100 * k_ms); // a rest, after which it is unsure
    begin_or_end_region(0);
    longest = look().rest_ns;
    EXPECT_GE(longest, rest);
  }
  EXPECT_EQ(longest, 1000 * k_ms);
  compute = {1, 2, 3};
  two_looks();
  EXPECT_LE(look().rest_ns, 100 * k_ms) << "somebody was asked";
}

TEST_F(oversubscription_test, nobody_is_asked_where_no_external_thread_takes_part) {
  begin_or_end_region(0);
  look(); // it did since the last look
  for (int i = 0; i < 3; ++i) {
    const auto o = look();
    EXPECT_FALSE(o.presses || o.unsure || o.rest_ns);
  }
  EXPECT_TRUE(h.asked.empty());
}

TEST_F(oversubscription_test, an_external_thread_that_has_come_and_gone_takes_part) {
  begin_or_end_region(0);
  look();
  begin_or_end_region(1);
  begin_or_end_region(1);
  look();
  EXPECT_EQ(h.asked, (std::vector<int>{4, 3}));
}

TEST_F(oversubscription_test, who_sleeps_or_hardly_runs_is_left_alone) {
  compute = {1, 3};
  h.asleep = 4;
  two_looks();
  EXPECT_EQ(h.asked, std::vector<int>{2});
}

TEST_F(oversubscription_test, after_a_long_time_nobody_knows_who_computes) {
  two_looks();
  EXPECT_TRUE(look(2, 1000 * k_ms).unsure);
  EXPECT_TRUE(h.asked.empty());
  EXPECT_TRUE(look().presses);
}

TEST_F(oversubscription_test, all_are_recalled_when_no_external_thread_takes_part) {
  two_looks();
  suspend(2);
  suspend(3);
  EXPECT_TRUE(look().presses);
  EXPECT_TRUE(is_suspended(2) && is_suspended(3));
  begin_or_end_region(0);
  EXPECT_TRUE(look().presses); // it did since the last look
  EXPECT_FALSE(look().presses);
  EXPECT_FALSE(is_suspended(2) || is_suspended(3));
}

TEST_F(oversubscription_test, one_is_recalled_for_each_slice_of_idle_time) {
  two_looks();
  for (std::size_t i = 1; i < 4; ++i)
    suspend(i);
  compute.clear();
  look(1, 6 * k_ms);
  EXPECT_EQ(is_suspended(1) + is_suspended(2) + is_suspended(3), 2);
  look(0, 5 * k_ms);
  EXPECT_EQ(is_suspended(1) + is_suspended(2) + is_suspended(3), 0);
}

TEST_F(oversubscription_test, what_was_asked_is_withdrawn_with_the_last_region) {
  two_looks();
  begin_or_end_region(0);
  look(); // it took part since the last look
  look();
  std::uint32_t asked = suspend_word<>::k_asked;
  EXPECT_FALSE(
      h.people[1].suspend_request.compare_exchange_strong(asked, suspend_word<>::k_suspended));
}

TEST_F(oversubscription_test,
       whoever_has_ended_is_left_alone_until_another_one_begins_with_its_record) {
  look();
  compute = {1};
  h.people[2].tid.store(0); // at the end of its thread
  h.used[3] = 0; // without a word
  look();
  EXPECT_EQ(h.asked, std::vector<int>{2});
  for (const int tid : {3, 4}) {
    h.people[static_cast<std::size_t>(tid) - 1].tid.store(tid);
    h.used[static_cast<std::size_t>(tid) - 1] = k_ms;
  }
  compute = {1, 2, 3};
  two_looks();
  std::sort(h.asked.begin(), h.asked.end());
  EXPECT_EQ(h.asked, (std::vector<int>{2, 3, 4}));
}

TEST_F(oversubscription_test, nobody_is_asked_where_that_is_not_possible) {
  h.can_be_asked = false;
  two_looks();
  EXPECT_TRUE(h.asked.empty());
}

} // namespace

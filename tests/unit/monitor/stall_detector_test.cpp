// SPDX-License-Identifier: Apache-2.0
// Which workers are stuck, from states of made-up workers at made-up times.
#include "monitor/stall_detector.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace {

using namespace weft::rt;

constexpr std::uint64_t k_ms = 1'000'000;

struct person {
  std::uint64_t epoch = 1, cpu = 100 * k_ms;
  bool idle = false, asleep = false, is_spare = false, gone = false, is_external = false,
       awaited = false, waits_for_word = false;
};

struct town final : watched {
  std::vector<person> people;
  bool work = true, chores = false, looking = false, none_to_be_had = false, keeps_to_own = false;
  mutable int asked_the_kernel = 0;
  std::vector<unsigned> retired;
  bool can_be_asked = false, all_deaf = false;
  std::vector<int> asked;
  std::map<int, thread_wait> waits; // by tid
  lock_holder held;                 // whatever lock it is

  explicit town(std::size_t n) : people(n) {}
  unsigned slots() const override { return static_cast<unsigned>(people.size()); }
  bool read(unsigned slot, reading &r) const override {
    const person &p = people[slot];
    r = {static_cast<int>(slot) + 1, p.epoch, p.idle, p.is_spare, p.is_external, p.awaited};
    return !p.gone;
  }
  bool any_worker_searches() const override {
    for (const person &p : people)
      if (p.idle && !p.gone)
        return true;
    return looking;
  }
  bool any_thread_keeps_to_own() const override { return keeps_to_own; }
  bool work_waits() const override { return work; }
  bool chores_wait() const override { return chores; }
  std::uint64_t cpu_ns(int tid) const override {
    return people[static_cast<std::size_t>(tid - 1)].cpu;
  }
  bool sleeps(int tid) const override {
    return ++asked_the_kernel, people[static_cast<std::size_t>(tid - 1)].asleep;
  }
  unsigned spares() const override {
    unsigned n = 0;
    for (const person &p : people)
      n += p.is_spare && !p.gone;
    return n;
  }
  bool add_spare() override {
    if (none_to_be_had)
      return false;
    people.push_back({});
    people.back().is_spare = true;
    return true;
  }
  bool can_ask() const override { return can_be_asked; }
  bool ask(int tid) override { return asked.push_back(tid), !all_deaf; }
  thread_wait waits_for(int tid) const override {
    if (people[static_cast<std::size_t>(tid - 1)].waits_for_word)
      return {.for_word = true};
    const auto at = waits.find(tid);
    return at == waits.end() ? thread_wait{} : at->second;
  }
  lock_holder holder(const thread_wait &) const override { return held; }
  void retire_spare(unsigned slot) override { people[slot].gone = true, retired.push_back(slot); }
  external_list<weft::layer::external_thread> externals;
  external_list<weft::layer::external_thread> &external_threads() override { return externals; }
};

struct stall_detector_test : testing::Test {
  town t{2};
  stall_detector j{t, 50 * k_ms};
  std::uint64_t now = 1000 * k_ms;

  /// Lets time pass; each worker that does not sleep uses CPU time.
  stall_detector::assessment look(std::uint64_t after = k_ms / 2) {
    now += after;
    for (person &p : t.people)
      p.cpu += p.asleep || p.idle ? 0 : after;
    return j.look(now);
  }
};

TEST_F(stall_detector_test, a_sleeping_worker_is_suspect_at_once_and_blocked_at_the_next_look) {
  t.people[0].asleep = true;
  look();
  EXPECT_EQ(look().suspects, 1u);
  EXPECT_EQ(t.spares(), 0u);
  const auto o = look();
  EXPECT_EQ(o.blocked, 1u);
  EXPECT_EQ(t.spares(), 1u);
  EXPECT_FALSE(o.may_rest);
}

// Its thread may be outside of Weft.
TEST_F(stall_detector_test, a_spare_joins_the_only_worker_if_other_threads_keep_to_their_own) {
  t.people.resize(1);
  look();
  EXPECT_EQ(t.spares(), 0u);
  t.keeps_to_own = true;
  look();
  EXPECT_EQ(t.spares(), 1u);
  t.work = false;
  look();
  EXPECT_EQ(t.spares(), 1u); // it leaves by itself
  t.keeps_to_own = false;
  look();
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, two_workers_need_no_spare_for_threads_that_keep_to_their_own) {
  t.keeps_to_own = true;
  for (int i = 0; i != 5; ++i)
    look();
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, one_spare_more_than_those_that_are_blocked_runs_if_there_is_no_worker) {
  t.people[0].gone = t.people[1].gone = true;
  look();
  ASSERT_EQ(t.spares(), 1u);
  t.people[2].asleep = true;
  for (int i = 0; i != 3; ++i)
    look();
  EXPECT_EQ(t.spares(), 2u);
}

TEST_F(stall_detector_test, a_worker_that_passes_scheduling_points_and_runs_is_never_asked_about) {
  for (int i = 0; i != 100; ++i) {
    ++t.people[0].epoch, ++t.people[1].epoch;
    const auto o = look();
    EXPECT_EQ(o.blocked, 0u);
    EXPECT_FALSE(o.look_soon);
  }
  EXPECT_EQ(t.asked_the_kernel, 0);
  EXPECT_EQ(t.spares(), 0u);
}

// Tasks that sleep for less than the time between two looks.
TEST_F(stall_detector_test,
       a_worker_that_passes_scheduling_points_and_sleeps_in_between_is_looked_at_soon) {
  look(10 * k_ms);
  t.people[0].asleep = true;
  ++t.people[0].epoch;
  EXPECT_TRUE(look(10 * k_ms).look_soon);
  EXPECT_EQ(look().suspects, 1u);
  EXPECT_EQ(look().blocked, 1u);
  EXPECT_EQ(t.spares(), 1u);
}

TEST_F(stall_detector_test, but_not_while_no_work_waits_nor_one_that_waits_for_its_cpu) {
  look(10 * k_ms);
  ++t.people[0].epoch;
  EXPECT_FALSE(j.look(now += 10 * k_ms).look_soon); // no CPU time, not asleep
  t.people[0].asleep = true;
  ++t.people[0].epoch;
  t.work = false;
  EXPECT_FALSE(look(10 * k_ms).look_soon);
}

TEST_F(stall_detector_test, a_short_sleep_is_no_reason) {
  t.people[0].asleep = true;
  look();
  look();
  t.people[0].asleep = false;
  EXPECT_EQ(look().blocked, 0u);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, nobody_is_asked_about_while_no_work_waits) {
  t.work = false;
  t.people[0].asleep = t.people[1].asleep = true;
  for (int i = 0; i != 100; ++i)
    EXPECT_TRUE(look().may_rest);
  EXPECT_EQ(t.asked_the_kernel, 0);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, an_idle_worker_takes_the_work_so_no_spare_is_needed) {
  t.people[0].asleep = true;
  t.people[1].idle = true;
  for (int i = 0; i != 100; ++i)
    EXPECT_TRUE(look().may_rest);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, each_blocked_worker_gets_one_spare_and_blocked_spares_get_theirs) {
  t.people[0].asleep = t.people[1].asleep = true;
  for (int i = 0; i != 20; ++i)
    look();
  EXPECT_EQ(t.spares(), 2u);
  t.people[2].asleep = true;
  for (int i = 0; i != 20; ++i)
    look();
  EXPECT_EQ(t.spares(), 3u);
}

struct stall_detector_of_external_threads_test : stall_detector_test {
  weft::layer::external_thread external, worker;

  stall_detector_of_external_threads_test() {
    t.people.resize(4);
    t.people[2].gone = true;
    t.people[3].is_external = true;
    external.tid = 4;
    worker.tid = 2;
    external.participation_seq = worker.participation_seq = 1;
    t.people[0].asleep = true;
    several_looks();
  }
  void several_looks() {
    for (int i = 0; i != 5; ++i)
      look();
  }
};

TEST_F(stall_detector_of_external_threads_test,
       one_that_takes_part_and_runs_replaces_a_blocked_worker) {
  EXPECT_EQ(t.spares(), 1u);
  t.externals.add(external);
  look();
  EXPECT_EQ(t.spares(), 0u) << "the cpu of the one that is blocked is the external thread's";
  t.people[3].asleep = true;
  several_looks();
  EXPECT_EQ(t.spares(), 1u) << "it sleeps";
  t.people[3].asleep = false;
  several_looks();
  EXPECT_EQ(t.spares(), 0u);
  external.participation_seq = external.seen_participation_seq = 2;
  several_looks();
  EXPECT_EQ(t.spares(), 1u) << "outside";
  external.participation_seq = 4;
  several_looks();
  EXPECT_EQ(t.spares(), 0u) << "outside again, but it was inside since the last look";
}

TEST_F(stall_detector_of_external_threads_test, a_worker_replaces_nobody) {
  t.externals.add(worker);
  several_looks();
  EXPECT_EQ(t.spares(), 1u);
}

TEST_F(stall_detector_of_external_threads_test,
       who_sleeps_now_and_then_makes_no_spare_come_and_go) {
  t.externals.add(external);
  several_looks();
  t.retired.clear();
  for (int i = 0; i != 100; ++i) {
    t.people[3].asleep = i % 2 != 0;
    ++t.people[1].epoch;
    look();
  }
  EXPECT_EQ(t.spares(), 0u);
  EXPECT_TRUE(t.retired.empty());
}

TEST_F(stall_detector_of_external_threads_test, somebody_is_left_who_runs_what_is_ready) {
  t.people[1].asleep = true;
  t.externals.add(external);
  weft::layer::external_thread another;
  another.tid = 4;
  another.participation_seq = 1;
  t.externals.add(another);
  several_looks();
  several_looks();
  EXPECT_EQ(t.spares(), 1u)
      << "external threads wait for others perhaps, and both workers are blocked";
}

TEST_F(stall_detector_test, a_spare_retires_when_the_blocked_worker_comes_back) {
  t.people[0].asleep = true;
  for (int i = 0; i != 5; ++i)
    look();
  ASSERT_EQ(t.spares(), 1u);
  t.people[0].asleep = false;
  look();
  look();
  EXPECT_EQ(t.spares(), 0u);
  EXPECT_EQ(t.retired, std::vector<unsigned>{2});
}

TEST_F(stall_detector_test, the_spare_that_retires_is_not_one_that_is_blocked) {
  t.people[0].asleep = t.people[1].asleep = true;
  for (int i = 0; i != 5; ++i)
    look();
  ASSERT_EQ(t.spares(), 2u);
  t.people[2].asleep = true; // a spare: compensated by a third one
  for (int i = 0; i != 5; ++i)
    look();
  ASSERT_EQ(t.spares(), 3u);
  t.people[0].asleep = false;
  for (int i = 0; i != 5; ++i)
    look();
  EXPECT_EQ(t.spares(), 2u);
  EXPECT_FALSE(t.people[2].gone);
}

TEST_F(stall_detector_test, workers_that_compute_get_one_spare_in_all_after_fifty_milliseconds) {
  for (int i = 0; i != 9; ++i)
    look(5 * k_ms);
  EXPECT_EQ(t.spares(), 0u);
  for (int i = 0; i != 100; ++i)
    look(5 * k_ms);
  EXPECT_EQ(t.spares(), 1u);
  ++t.people[0].epoch, ++t.people[1].epoch;
  t.people[2].epoch = 2;
  look(5 * k_ms);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test,
       work_that_does_not_wait_for_long_is_no_reason_to_stand_in_for_one_that_computes) {
  for (int i = 0; i != 200; ++i) {
    t.work = i % 5 != 0;
    look(5 * k_ms);
  }
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, services_are_no_reason_to_stand_in_for_one_that_computes) {
  t.work = false, t.chores = true;
  for (int i = 0; i != 100; ++i)
    look(5 * k_ms);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, services_are_one_to_stand_in_for_one_that_is_blocked) {
  t.work = false, t.chores = true;
  t.people[0].asleep = true;
  for (int i = 0; i != 5; ++i)
    look();
  EXPECT_EQ(t.spares(), 1u);
}

TEST_F(stall_detector_test, a_worker_that_waits_for_its_cpu_is_not_blocked) {
  for (int i = 0; i != 10; ++i)
    j.look(now += k_ms); // no CPU time, not asleep
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, a_worker_that_computes_is_not_asked_about_at_every_look) {
  for (int i = 0; i != 100; ++i)
    look(k_ms / 4);
  EXPECT_LE(t.asked_the_kernel, 2);
}

TEST_F(stall_detector_test, where_there_is_no_spare_it_goes_on_looking) {
  t.none_to_be_had = true;
  t.people[0].asleep = true;
  for (int i = 0; i != 10; ++i)
    EXPECT_FALSE(look().may_rest);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test,
       who_computes_while_work_waits_is_asked_after_a_slice_and_so_needs_no_spare) {
  t.can_be_asked = true;
  for (int i = 0; i != 100; ++i) {
    const auto o = look(3 * k_ms);
    EXPECT_EQ(o.slicing, i >= 2) << i; // work has waited for a slice
    for (const int tid : t.asked)
      ++t.people[static_cast<std::size_t>(tid - 1)].epoch;
    t.asked.clear();
  }
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, who_does_not_let_go_gets_a_spare_all_the_same) {
  t.can_be_asked = true;
  for (int i = 0; i != 30; ++i)
    look(3 * k_ms);
  EXPECT_EQ(t.spares(), 1u);
  EXPECT_FALSE(t.asked.empty());
}

TEST_F(stall_detector_test, and_so_does_each_spare_that_does_not_let_go_either) {
  t.can_be_asked = true;
  for (unsigned n = 1; n != 8; ++n) {
    for (int i = 0; i != 100 && t.spares() < n; ++i)
      look(3 * k_ms);
    EXPECT_EQ(t.spares(), n);
    for (int i = 0; i != 10; ++i) // not before it has been there for long
      look(3 * k_ms);
    EXPECT_EQ(t.spares(), n);
  }
  for (int i = 0; i != 10; ++i) {
    for (person &p : t.people)
      ++p.epoch;
    look(3 * k_ms);
  }
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test,
       where_nobody_is_to_be_asked_one_spare_is_all_there_is_for_those_that_compute) {
  for (int i = 0; i != 200; ++i)
    look(3 * k_ms);
  EXPECT_EQ(t.spares(), 1u);
}

TEST_F(stall_detector_test, a_spare_runs_what_waits_where_no_worker_is_left) {
  town t(2);
  t.people[0].gone = true; // the thread that had the slot has ended
  t.people[1].is_external = true;
  stall_detector j(t, 50 * k_ms);
  std::uint64_t at = 1000 * k_ms;
  t.work = false;
  EXPECT_TRUE(j.look(at).may_rest);
  EXPECT_EQ(t.spares(), 0u);
  t.work = true;
  (void)j.look(at += 10 * k_ms);
  EXPECT_EQ(t.spares(), 1u);
  (void)j.look(at += 10 * k_ms);
  EXPECT_EQ(t.spares(), 1u) << "one is enough";
  t.work = false; // the spare has it in its hands
  (void)j.look(at += 10 * k_ms);
  EXPECT_EQ(t.spares(), 1u);
  t.people[0].gone = false; // another thread has the slot
  (void)j.look(at += 10 * k_ms);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, who_cannot_hear_is_no_reason_to_look_more_often) {
  t.can_be_asked = t.all_deaf = t.none_to_be_had = true;
  for (int i = 0; i != 100; ++i) {
    const auto o = look(3 * k_ms);
    EXPECT_TRUE(i < 30 || !o.slicing) << i;
  }
}

// ---- locks of the kernel ----

struct stall_detector_of_locks_test : stall_detector_test {
  /// Lets all workers sleep for the lock, and each new one, too.
  void all_wait(int looks, std::uintptr_t lock = 64) {
    for (int i = 0; i != looks; ++i) {
      for (std::size_t k = 0; k != t.people.size(); ++k)
        if (!t.people[k].is_external &&
            t.waits
                .try_emplace(static_cast<int>(k) + 1,
                             thread_wait{thread_wait::kind::lock, false, lock})
                .second)
          t.people[k].asleep = true;
      look();
    }
  }
};

TEST_F(stall_detector_of_locks_test,
       waiters_of_a_lock_that_is_passed_on_get_as_many_spares_as_there_are_workers) {
  t.people.resize(4); // they have it by turns
  t.people[2].is_external = t.people[3].is_external = t.people[2].asleep = t.people[3].asleep =
      true;
  for (int i = 0; i != 500; ++i) {
    t.held = {3 + i / 50 % 2, false};
    all_wait(1);
  }
  EXPECT_EQ(t.spares(), 2u);
}

TEST_F(stall_detector_of_locks_test, so_do_those_of_a_lock_whose_holder_computes) {
  t.waits[1] = {};
  t.held = {1, false};
  all_wait(50);
  EXPECT_EQ(t.spares(), 2u);
  all_wait(500);
  EXPECT_EQ(t.spares(), 3u) << "and one because it computes";
}

TEST_F(stall_detector_of_locks_test, or_sleeps_until_a_time_comes) {
  t.waits[1] = {thread_wait::kind::clock, false, 0};
  t.people[0].asleep = true;
  t.held = {1, false};
  all_wait(500);
  EXPECT_EQ(t.spares(), 3u) << "two for the waiters, one for the holder";
}

TEST_F(stall_detector_of_locks_test, a_lock_that_is_free_is_about_to_be_taken) {
  t.held = {0, true};
  all_wait(500);
  EXPECT_EQ(t.spares(), 2u);
}

TEST_F(stall_detector_of_locks_test, each_waiter_gets_a_spare_once_the_lock_has_stood_still) {
  t.waits[1] = {}; // the holder sleeps, for something that others may have to do
  t.people[0].asleep = true;
  t.held = {1, false};
  all_wait(50);
  EXPECT_EQ(t.spares(), 3u);
  all_wait(200);
  EXPECT_GT(t.spares(), 20u);
}

TEST_F(stall_detector_of_locks_test,
       and_at_once_where_the_holder_waits_for_it_itself) { // what holds it was suspended
  t.held = {1, false};
  all_wait(60);
  EXPECT_GT(t.spares(), 5u);
}

// Asked about one after the other, a thread may seem to wait for what it has got meanwhile.
TEST_F(stall_detector_of_locks_test, a_holder_that_has_run_since_the_last_look_waits_for_nothing) {
  t.held = {1, false};
  for (int i = 0; i != 100; ++i) {
    t.people[0].cpu += 1000;
    all_wait(1);
  }
  EXPECT_LE(t.spares(), 3u);
}

TEST_F(stall_detector_of_locks_test, who_has_just_been_woken_is_not_blocked) {
  t.people[0].asleep = true;
  t.waits[1] = {thread_wait::kind::none, false, 0};
  for (int i = 0; i != 20; ++i)
    EXPECT_EQ(look().blocked, 0u);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_of_locks_test, waiters_of_different_locks_do_not_wait_for_each_other) {
  for (int i = 0; i != 60; ++i)
    all_wait(1, 64 + 64 * t.people.size());
  EXPECT_GT(t.spares(), 10u);
}

TEST_F(stall_detector_test, a_thread_whose_own_stack_is_ready_is_asked_whatever_the_others_do) {
  t.can_be_asked = true, t.work = false;
  t.people[0].awaited = true, t.people[1].idle = true;
  for (int i = 0; i != 4; ++i)
    EXPECT_FALSE(look(3 * k_ms).may_rest);
  EXPECT_EQ(t.asked, (std::vector<int>{1, 1}));
  t.people[0].awaited = false;
  EXPECT_TRUE(look(3 * k_ms).may_rest);
}

TEST_F(stall_detector_test, an_external_thread_whose_stack_is_ready_is_asked_and_gets_no_spare) {
  t.can_be_asked = true, t.work = false;
  t.people[0].awaited = t.people[0].is_external = true, t.people[1].idle = true;
  for (int i = 0; i != 100; ++i)
    EXPECT_FALSE(look(3 * k_ms).may_rest);
  EXPECT_FALSE(t.asked.empty());
  for (const int tid : t.asked)
    EXPECT_EQ(tid, 1);
  EXPECT_EQ(t.spares(), 0u);
}

TEST_F(stall_detector_test, who_sleeps_in_the_kernel_is_not_asked) {
  t.can_be_asked = true;
  t.people[0].asleep = t.people[1].asleep = true;
  for (int i = 0; i != 100; ++i)
    look(3 * k_ms);
  for (const int tid : t.asked)
    EXPECT_GT(tid, 2);
}
TEST_F(stall_detector_test,
       who_waits_for_a_word_on_a_thread_whose_own_stack_is_ready_is_asked_at_the_second_look) {
  t.can_be_asked = true, t.work = false;
  t.people[0].awaited = t.people[0].asleep = t.people[0].waits_for_word = true,
  t.people[1].idle = true;
  look(k_ms);
  EXPECT_TRUE(t.asked.empty());
  look(k_ms);
  EXPECT_EQ(t.asked, (std::vector<int>{1}));
  t.people[0].awaited = false;
  look(k_ms);
  EXPECT_EQ(t.asked.size(), 1u) << "it keeps nobody else from going on";
}
TEST_F(stall_detector_test, nor_is_one_whose_own_stack_is_ready_while_others_idle) {
  t.can_be_asked = true, t.work = false;
  t.people[0].awaited = t.people[0].asleep = true, t.people[1].idle = true;
  for (int i = 0; i != 100; ++i)
    EXPECT_FALSE(look(3 * k_ms).may_rest);
  EXPECT_TRUE(t.asked.empty());
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// With sched.seed the scheduler is a function: the same seed orders the same program's tasks in the same way.
#include "sched/policies.hpp"
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace weft::rt;

std::string order_of_policy(std::uint64_t seed) {
  auto policy = make_seeded(seed);
  std::vector<runnable> items(20);
  for (auto &item : items)
    policy->add(&item, 0, origin::fresh);
  std::string order;
  while (runnable *r = policy->get(0))
    order += static_cast<char>('a' + (r - items.data()));
  return order;
}

TEST(seeded_policy, gives_everything_once_in_an_order_of_the_seed) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string order = order_of_policy(seed);
    EXPECT_EQ(order, order_of_policy(seed));
    EXPECT_EQ(std::set<char>(order.begin(), order.end()).size(), 20u) << order;
    EXPECT_EQ(order.size(), 20u);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 30u);
}

TEST(seeded_policy, without_a_seed_keeps_the_order_of_creation) {
  EXPECT_EQ(order_of_policy(0), "abcdefghijklmnopqrst");
  EXPECT_EQ(make_seeded(0)->choose(3), 0u);
}

TEST(seeded_policy, a_fruitless_look_changes_nothing) {
  auto patient = make_seeded(5), eager = make_seeded(5);
  std::vector<runnable> items(8);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(eager->get(0), nullptr);
  for (auto &item : items) {
    patient->add(&item, 0, origin::fresh);
    eager->add(&item, 0, origin::fresh);
  }
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(patient->get(0), eager->get(0));
}

TEST(seeded_policy, chooses_among_all_that_is_offered) {
  auto policy = make_seeded(3);
  std::set<unsigned> seen;
  for (int i = 0; i < 100; ++i)
    seen.insert(policy->choose(3));
  EXPECT_EQ(seen, (std::set<unsigned>{0, 1, 2}));
}

void say(const char *label) { std::printf("%s ", label); }
void say_mine() { say(weft::this_task::label()); }

/// Tasks that depend, nest, suspend, wait in groups and join; prints the labels in the order in which things
/// happen.
void labelled_program() {
  static int x = 0, y = 0;
  static const char *const names[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"};
  for (const char *name : names)
    weft::spawn([] { say_mine(); }, weft::label(name));
  weft::spawn([] { x = 1, say_mine(); }, weft::out(x), weft::label("write"));
  weft::spawn([] { y = x, say_mine(); }, weft::in(x), weft::out(y), weft::label("read"));
  weft::spawn(
      [] {
        for (const char *name : {"b0", "b1", "b2"})
          weft::spawn([] { weft::taskyield(), say_mine(); }, weft::label(name));
        weft::taskwait();
        say_mine();
      },
      weft::label("outer"));
  weft::join([] { weft::taskyield(), say("first"); }, [] { say("second"); });
  weft::task_group group;
  for (const char *name : {"c0", "c1", "c2"})
    group.spawn([] { say_mine(); }, weft::inout(y), weft::label(name));
  group.wait();
  weft::taskwait();
  EXPECT_EQ(x + y, 2);
  std::printf("suspended %llu\n", static_cast<unsigned long long>(weft::stats().suspended));
}

/// What labelled_program() printed: the first line of the test's own output that names its last word.
std::string line_of(const test::ending &end) {
  EXPECT_TRUE(end.exited(0)) << end;
  const auto last = end.output.find("suspended ");
  const auto first = end.output.rfind('\n', last) + 1;
  return end.output.substr(first, end.output.find('\n', last) - first);
}

TEST(seeded_run, repeats_the_order_of_labelled_tasks) {
  std::set<std::string> orders;
  for (const char *seed : {"1", "2", "3", "4", "5", "6"}) {
    const std::string once =
        line_of(test::in_process({{"WEFT_SCHED_SEED", seed}}, labelled_program));
    const std::string twice =
        line_of(test::in_process({{"WEFT_SCHED_SEED", seed}}, labelled_program));
    EXPECT_EQ(once, twice) << "seed " << seed;
    EXPECT_LT(once.find("write"), once.find("read")) << once;
    EXPECT_LT(once.find("c0"), once.find("c1")) << once;
    EXPECT_LT(once.find("b2"), once.find("outer")) << once;
    orders.insert(once);
  }
  EXPECT_EQ(orders.size(), 6u) << "different seeds ordered the tasks alike";
}

TEST(seeded_run, a_seed_decides_which_branch_of_a_join_goes_first) {
  bool first = false, second = false, found = false;
  for (int seed = 1; seed <= 30 && !(first && second); ++seed) {
    const auto end = test::in_process({{"WEFT_SCHED_SEED", std::to_string(seed)}}, [] {
      weft::join([] { say("[first]"); }, [] { say("[second]"); });
    });
    ASSERT_TRUE(end.exited(0)) << end;
    found = end.printed("[first]") && end.printed("[second]");
    ASSERT_TRUE(found) << end;
    (end.output.find("[first]") < end.output.find("[second]") ? first : second) = true;
  }
  EXPECT_TRUE(first && second);
}

TEST(seeded_run, a_wait_runs_its_children_in_place_or_is_suspended) {
  std::set<std::string> suspensions;
  for (int seed = 1; seed <= 20 && suspensions.size() < 2; ++seed)
    suspensions.insert(line_of(test::in_process({{"WEFT_SCHED_SEED", std::to_string(seed)}}, [] {
      weft::spawn([] {
        weft::spawn([] {});
        weft::taskwait();
      });
      weft::taskwait();
      std::printf("suspended %llu\n", static_cast<unsigned long long>(weft::stats().suspended));
    })));
  EXPECT_GT(suspensions.size(), 1u);
}

TEST(seeded_run, without_a_seed_follows_the_order_of_creation) {
  const auto end = test::in_process({{"WEFT_SCHED_POLICY", "seeded"}}, [] {
    for (const char *name : {"a0", "a1", "a2"})
      weft::spawn(
          [] {
            say_mine();
            weft::spawn([] { say("inner"); });
            weft::taskwait();
          },
          weft::label(name));
    weft::join([] { say("first"); }, [] { say("second"); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.printed("first second a0 a1 a2 inner inner inner ")) << end;
}

TEST(seeded_run, has_one_worker) {
  const auto end =
      test::in_process({{"WEFT_SCHED_SEED", "9"}}, [] { EXPECT_EQ(weft::worker_count(), 1); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(seeded_run, more_workers_are_a_contradiction_that_names_both_settings) {
  const auto end = test::in_process({{"WEFT_SCHED_SEED", "9"}, {"WEFT_WORKERS", "4"}}, [] {
    try {
      weft::start();
      ADD_FAILURE() << "it started";
    } catch (const weft::error &e) {
      std::printf("%s\n", e.what());
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(
      "setting sched.policy = seeded (from setting sched.seed) goes with workers = 1 only, "
      "which is '4' (from environment WEFT_WORKERS); leave one of them out"))
      << end;
}

} // namespace

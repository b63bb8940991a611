// SPDX-License-Identifier: Apache-2.0
// What the policies of the throttle count, and which creators each of them holds back.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "worker/runtime.hpp"
#include "worker/throttle/throttle_policy.hpp"

#include <weft/coro.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>

namespace {

using namespace weft::rt;

settings limits_of(std::uint64_t bytes, std::uint64_t soft, int tasks) {
  settings all;
  all.throttle_bytes = bytes;
  all.throttle_soft = soft;
  all.throttle_tasks = tasks;
  return all;
}

TEST(throttle_policy, each_value_of_the_setting_has_its_own) {
  EXPECT_EQ(&throttle_policy_of(throttle_kind::bytes), &throttle_by_bytes());
  EXPECT_EQ(&throttle_policy_of(throttle_kind::tasks), &throttle_by_tasks());
  EXPECT_EQ(&throttle_policy_of(throttle_kind::none), &throttle_none());
}

TEST(throttle_policy, bytes_have_the_lower_of_two_marks) {
  const throttle_marks both = throttle_by_bytes().marks(limits_of(1 << 20, 64 << 10, 16), 4);
  EXPECT_EQ(both.limit, 1 << 20);
  EXPECT_EQ(both.lowest, 4 * (64 << 10));
  EXPECT_EQ(both.margin, 16 << 10);
  EXPECT_FALSE(both.checks_each_spawn);
  EXPECT_EQ(throttle_by_bytes().marks(limits_of(1 << 20, 1 << 20, 16), 4).lowest, 1 << 20);
  EXPECT_EQ(throttle_by_bytes().marks(limits_of(1 << 20, 0, 16), 4).lowest, 1 << 20);
  const throttle_marks off = throttle_by_bytes().marks(limits_of(0, 64 << 10, 16), 4);
  EXPECT_EQ(off.limit, throttle_marks::k_no_limit);
  EXPECT_EQ(off.lowest, throttle_marks::k_no_limit);
}

TEST(throttle_policy, tasks_have_one_mark_for_all_workers) {
  const throttle_marks few = throttle_by_tasks().marks(limits_of(1 << 20, 64 << 10, 16), 4);
  EXPECT_EQ(few.limit, 16);
  EXPECT_EQ(few.lowest, 16);
  EXPECT_EQ(few.margin, 16);
  EXPECT_TRUE(few.checks_each_spawn);
  EXPECT_EQ(throttle_by_tasks().marks(limits_of(1 << 20, 0, 4096), 4).margin, 64);
  const throttle_marks off = throttle_by_tasks().marks(limits_of(1 << 20, 64 << 10, 0), 4);
  EXPECT_EQ(off.limit, throttle_marks::k_no_limit);
  EXPECT_FALSE(off.checks_each_spawn);
}

TEST(throttle_policy, none_has_no_mark) {
  const throttle_marks none = throttle_none().marks(limits_of(1 << 20, 64 << 10, 16), 4);
  EXPECT_EQ(none.limit, throttle_marks::k_no_limit);
  EXPECT_EQ(none.lowest, throttle_marks::k_no_limit);
  EXPECT_FALSE(none.checks_each_spawn);
}

/// Runs `body` in a process of one worker, whose tasks run while it is held back or waits, and on
/// no other thread.
test::ending with_one_worker_alone(test::environment with, void (*body)()) {
  with.insert(with.end(),
              {{"WEFT_CONFIG", ""}, {"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}});
  return test::in_process(std::move(with), body);
}

struct flood_result {
  int most = 0; // tasks that were created and had not run
  std::uint64_t held = 0;
};

/// Makes `count` tasks of one creator.
flood_result flood(int count) {
  flood_result seen;
  const std::uint64_t held_before = weft::stats().throttled;
  std::atomic<int> ran{0};
  for (int made = 1; made <= count; ++made) {
    weft::spawn([&ran] { ++ran; });
    seen.most = std::max(seen.most, made - ran);
  }
  weft::taskwait();
  EXPECT_EQ(ran, count);
  seen.held = weft::stats().throttled - held_before;
  return seen;
}

TEST(throttle_policy, tasks_are_held_by_their_number) {
  const auto end =
      with_one_worker_alone({{"WEFT_THROTTLE_POLICY", "tasks"}, {"WEFT_THROTTLE_TASKS", "100"}}, [] {
        for (int round = 0; round != 3; ++round) {
          const flood_result seen = flood(2000);
          EXPECT_GT(seen.held, 0u);
          EXPECT_GE(seen.most, 100);
          EXPECT_LE(seen.most, 100 + 64 + 1);
        }
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, tasks_off_hold_none) {
  const auto end =
      with_one_worker_alone({{"WEFT_THROTTLE_POLICY", "tasks"}, {"WEFT_THROTTLE_TASKS", "off"}},
                      [] { EXPECT_EQ(flood(20'000).held, 0u); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, tasks_are_not_held_by_their_memory) {
  const auto end = with_one_worker_alone({{"WEFT_THROTTLE_POLICY", "tasks"},
                                    {"WEFT_THROTTLE_TASKS", "100000"},
                                    {"WEFT_THROTTLE_BYTES", "64KiB"}},
                                   [] {
                                     const flood_result seen = flood(20'000);
                                     EXPECT_EQ(seen.held, 0u);
                                     EXPECT_EQ(seen.most, 20'000);
                                   });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, bytes_are_not_held_by_the_number_of_tasks) {
  const auto end = with_one_worker_alone({{"WEFT_THROTTLE_TASKS", "16"}}, [] {
    const flood_result seen = flood(200);
    EXPECT_EQ(seen.held, 0u);
    EXPECT_EQ(seen.most, 200);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, none_holds_nobody) {
  const auto end = with_one_worker_alone({{"WEFT_THROTTLE_POLICY", "none"},
                                    {"WEFT_THROTTLE_TASKS", "16"},
                                    {"WEFT_THROTTLE_BYTES", "64KiB"}},
                                   [] {
                                     const flood_result seen = flood(20'000);
                                     EXPECT_EQ(seen.held, 0u);
                                     EXPECT_EQ(seen.most, 20'000);
                                   });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, tasks_that_wait_for_their_creator_let_it_go_on) {
  const auto end = test::in_process(
      {{"WEFT_THROTTLE_POLICY", "tasks"}, {"WEFT_THROTTLE_TASKS", "16"}, {"WEFT_CONFIG", ""}}, [] {
        const int count = 2000;
        std::atomic<int> ran{0};
        int cell = 0;
        std::atomic<weft::detail::task *> holder{nullptr};
        weft::spawn(
            [&] { weft::this_task::increase_events(), holder = weft::this_task::self().get(); },
            weft::out(cell));
        EXPECT_TRUE(test::eventually([&] { return holder != nullptr; }));
        for (int i = 0; i != count; ++i)
          weft::spawn([&] { ++ran; }, weft::in(cell));
        weft::decrease_events(weft::task_ref(holder));
        weft::taskwait();
        EXPECT_EQ(ran, count);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, producers_below_producers_end_with_tasks) {
  const auto end = test::in_process(
      {{"WEFT_THROTTLE_POLICY", "tasks"}, {"WEFT_THROTTLE_TASKS", "16"}, {"WEFT_CONFIG", ""}}, [] {
        std::atomic<int> ran{0};
        for (int i = 0; i != 100; ++i)
          weft::spawn([&] {
            for (int k = 0; k != 40; ++k)
              weft::spawn([&] { ++ran; });
            weft::taskwait();
            ++ran;
          });
        weft::taskwait();
        EXPECT_EQ(ran, 4100);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, changes_while_the_program_runs) {
  const auto end = with_one_worker_alone({{"WEFT_THROTTLE_TASKS", "100"}}, [] {
    weft::start();
    EXPECT_EQ(flood(1000).held, 0u) << "by bytes";
    weft::tune::set("throttle.policy", "tasks");
    EXPECT_GT(flood(1000).held, 0u);
    weft::tune::set("throttle.tasks", "2000");
    EXPECT_EQ(flood(1000).held, 0u);
    weft::tune::set("throttle.tasks", "50");
    EXPECT_GT(flood(1000).held, 0u);
    weft::tune::set("throttle.policy", "none");
    EXPECT_EQ(flood(1000).held, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, changes_amid_producers_lose_no_task) {
  const auto end = test::in_process({{"WEFT_CONFIG", ""}, {"WEFT_THROTTLE_TASKS", "16"}}, [] {
    const char *const names[] = {"tasks", "none", "bytes"};
    std::atomic<int> ran{0};
    for (int i = 0; i != 60; ++i) {
      weft::spawn([&] {
        for (int k = 0; k != 100; ++k)
          weft::spawn([&] { ++ran; });
      });
      weft::tune::set("throttle.policy", names[i % 3]);
    }
    weft::taskwait();
    EXPECT_EQ(ran, 6000);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle_policy, bodies_that_run_again_leave_no_rest_in_the_level) {
  const auto end = with_one_worker_alone({{"WEFT_THROTTLE_POLICY", "tasks"}}, [] {
    flood(100);
    for (int i = 0; i != 10; ++i)
      weft::spawn([]() -> weft::task<void> {
        co_await weft::this_task::async_yield();
        co_await weft::this_task::async_yield();
      });
    EXPECT_EQ(the_runtime().producers.level(0), 10);
    weft::taskwait();
    EXPECT_EQ(the_runtime().producers.level(0), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Holds creators beyond eight tasks. Shows what a policy is: one class.
class by_eights final : public throttle_policy {
 public:
  [[nodiscard]] throttle_marks marks(const settings &, unsigned) const override {
    return {.limit = 8, .lowest = 8, .margin = 0, .checks_each_spawn = true};
  }
  [[nodiscard]] std::int64_t level(const runtime &of, std::int64_t live_bytes) const override {
    return throttle_by_tasks().level(of, live_bytes);
  }
};

TEST(throttle_policy, of_a_test_is_one_class) {
  const auto end = with_one_worker_alone({}, [] {
    static constexpr by_eights k_eights;
    weft::start();
    runtime &here = the_runtime();
    here.producers.follow(k_eights, here.cfg, here.workers);
    const flood_result seen = flood(300);
    EXPECT_EQ(seen.most, 8);
    EXPECT_GT(seen.held, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

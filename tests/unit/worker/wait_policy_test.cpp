// SPDX-License-Identifier: Apache-2.0
// What a task does at a taskwait, by policy: on which thread it goes on, and which code runs
// meanwhile.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "task/poll_hook.hpp"
#include "task/wait/wait_policy.hpp"
#include "worker/runtime.hpp"

#include <weft/sync.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace weft::rt;

TEST(wait_policy, each_value_of_the_setting_has_its_own) {
  EXPECT_EQ(&wait_policy_of(wait_kind::help), &wait_by_help());
  EXPECT_EQ(&wait_policy_of(wait_kind::suspend), &wait_by_suspension());
  EXPECT_EQ(&wait_policy_of(wait_kind::sleep), &wait_by_sleep());
}

TEST(wait_policy, help_alone_helps_and_sleep_alone_sleeps) {
  EXPECT_TRUE(wait_by_help().helps(0) && wait_by_help().helps(1000) && !wait_by_help().sleeps());
  EXPECT_TRUE(!wait_by_suspension().helps(0) && !wait_by_suspension().sleeps());
  EXPECT_TRUE(!wait_by_sleep().helps(0) && wait_by_sleep().sleeps());
}

/// Runs `body` in a process with one worker and these settings.
test::ending with_one_worker(test::environment with, void (*body)()) {
  with.insert(with.end(), {{"WEFT_CONFIG", ""}, {"WEFT_WORKERS", "1"}});
  return test::in_process(std::move(with), body);
}

/// Runs `body` as a task.
template <class F>
void in_task(F body) {
  weft::spawn(body);
  weft::taskwait();
}

/// Says what a task has seen that waited for one child.
struct wait_seen {
  bool same_thread = false; // goes on where it waited
  bool child_elsewhere = false; // the child ran on another thread
  std::uint64_t suspended = 0;
};

wait_seen wait_for_a_child() {
  wait_seen seen;
  in_task([&seen] {
    const int here = gettid();
    int there = 0;
    const std::uint64_t before = weft::stats().suspended;
    weft::spawn([&there] { there = gettid(); });
    weft::taskwait();
    seen.suspended = weft::stats().suspended - before;
    seen.same_thread = gettid() == here;
    seen.child_elsewhere = there != here;
  });
  return seen;
}

TEST(wait_policy, help_runs_the_child_on_the_stack_of_the_waiter) {
  const auto end = with_one_worker({{"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    for (int round = 0; round != 3; ++round)
      EXPECT_EQ(wait_for_a_child().suspended, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, suspend_leaves_the_stack_of_the_waiter) {
  const auto end =
      with_one_worker({{"WEFT_WAIT_POLICY", "suspend"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
        for (int round = 0; round != 3; ++round) {
          const wait_seen seen = wait_for_a_child();
          EXPECT_EQ(seen.suspended, 1u);
          EXPECT_FALSE(seen.child_elsewhere);
        }
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, sleep_keeps_the_thread_and_a_spare_runs_the_child) {
  const auto end = with_one_worker({{"WEFT_WAIT_POLICY", "sleep"}}, [] {
    for (int round = 0; round != 5; ++round)
      // A task that the former round's spare has begun suspends, when the worker is back.
      EXPECT_TRUE(test::eventually([] {
        const wait_seen seen = wait_for_a_child();
        return seen.same_thread && seen.child_elsewhere;
      }));
    EXPECT_EQ(the_runtime().naps, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, sleep_of_the_first_thread_leaves_tasks_to_a_spare) {
  const auto end = with_one_worker({{"WEFT_WAIT_POLICY", "sleep"}}, [] {
    const int here = gettid();
    int there = here;
    in_task([&there] { there = gettid(); });
    EXPECT_NE(there, here);
    there = here; // before a spare that is still awake may run the child
    weft::task_group several;
    several.spawn([&there] { there = gettid(); });
    several.wait();
    EXPECT_NE(there, here);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, sleepers_within_sleepers_end) {
  const auto end =
      with_one_worker({{"WEFT_WAIT_POLICY", "sleep"}, {"WEFT_WATCH_MAX_SPARES", "3"}}, [] {
        struct chain {
          static int below(int depth) {
            int result = 0;
            weft::spawn([&result, depth] { result = depth == 0 ? 0 : 1 + below(depth - 1); });
            weft::taskwait();
            return result;
          }
        };
        EXPECT_EQ(chain::below(20), 20);
        EXPECT_EQ(chain::below(20), 20);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, sleep_without_spares_suspends) {
  const auto end =
      with_one_worker({{"WEFT_WAIT_POLICY", "sleep"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
        const wait_seen seen = wait_for_a_child();
        EXPECT_EQ(seen.suspended, 1u);
        EXPECT_FALSE(seen.child_elsewhere);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// The only spare is blocked by a body, and what would end that is ready.
TEST(wait_policy, sleepers_without_a_spare_go_back_to_work) {
  const auto end =
      with_one_worker({{"WEFT_WAIT_POLICY", "sleep"}, {"WEFT_WATCH_MAX_SPARES", "1"}}, [] {
        std::mutex lock;
        std::condition_variable changed;
        bool open = false;
        weft::spawn([&] {
          weft::spawn([&] { // behind the body that blocks
            const std::lock_guard held(lock);
            open = true;
            changed.notify_one();
          });
          std::unique_lock held(lock);
          changed.wait(held, [&] { return open; });
        });
        weft::taskwait();
        EXPECT_TRUE(open);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// The thread of main sleeps with a task that waits for what main does next.
TEST(wait_policy, a_sleeper_leaves_for_the_stack_of_its_thread) {
  const auto end = with_one_worker({}, [] {
    weft::latch main_goes_on(1), child_ends(1);
    bool ended = false;
    weft::spawn([&] {
      weft::spawn([&] { child_ends.wait(); });
      weft::spawn([&] {
        EXPECT_TRUE(test::eventually([] { return the_runtime().naps == 1; }));
        main_goes_on.count_down();
      });
      weft::tune::set("wait.policy", "sleep");
      weft::taskwait();
      ended = true;
    });
    main_goes_on.wait();
    EXPECT_FALSE(ended);
    child_ends.count_down();
    weft::taskwait();
    EXPECT_TRUE(ended);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, errors_of_children_arrive) {
  const auto end = with_one_worker({{"WEFT_WAIT_POLICY", "sleep"}}, [] {
    for (const char *const policy : {"sleep", "suspend", "help"}) {
      weft::start();
      weft::tune::set("wait.policy", policy);
      bool caught = false;
      in_task([&caught] {
        weft::spawn([] { throw std::runtime_error("of a child"); });
        try {
          weft::taskwait();
        } catch (const std::runtime_error &) {
          caught = true;
        }
      });
      EXPECT_TRUE(caught) << policy;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, changes_while_the_program_runs) {
  const auto end = with_one_worker({}, [] {
    weft::start();
    EXPECT_EQ(&wait_policy_in_use(), &wait_by_help());
    EXPECT_TRUE(test::eventually([] { return wait_for_a_child().suspended == 0; }));
    for (int round = 0; round != 2; ++round) {
      weft::tune::set("wait.policy", "suspend");
      EXPECT_EQ(&wait_policy_in_use(), &wait_by_suspension());
      // A spare that is still awake may have run the child before the wait.
      EXPECT_TRUE(test::eventually([] { return wait_for_a_child().suspended >= 1; }));
      weft::tune::set("wait.policy", "sleep");
      EXPECT_TRUE(test::eventually([] { return wait_for_a_child().child_elsewhere; }));
      weft::tune::set("wait.policy", "help"); // a spare may suspend its own stack for the last time
      EXPECT_TRUE(test::eventually([] { return wait_for_a_child().suspended == 0; }));
    }
    EXPECT_FALSE(has_services_at(weft::poll_point::taskwait));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

int sum_of_tree(int depth) {
  if (depth == 0)
    return 1;
  int left = 0, right = 0;
  weft::spawn([&left, depth] { left = sum_of_tree(depth - 1); });
  weft::spawn([&right, depth] { right = sum_of_tree(depth - 1); });
  weft::taskwait();
  return left + right;
}

TEST(wait_policy, changes_amid_waits_lose_none) {
  const auto end = test::in_process({{"WEFT_CONFIG", ""}, {"WEFT_WORKERS", "3"}}, [] {
    const char *const names[] = {"suspend", "sleep", "help"};
    std::atomic<int> done{0};
    for (int i = 0; i != 30; ++i) {
      weft::spawn([&done] { done += sum_of_tree(6); });
      weft::tune::set("wait.policy", names[i % 3]);
    }
    weft::taskwait();
    EXPECT_EQ(done, 30 * 64);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Workers are sent away and called back while they sleep with frames.
TEST(wait_policy, sleepers_step_back) {
  const auto end = test::in_process(
      {{"WEFT_CONFIG", ""}, {"WEFT_WORKERS", "4"}, {"WEFT_WAIT_POLICY", "sleep"}}, [] {
        std::atomic<int> done{0};
        for (int i = 0; i != 20; ++i) {
          weft::spawn([&done] { done += sum_of_tree(5); });
          weft::tune::set("sched.workers", i % 2 == 0 ? "1" : "all");
        }
        weft::taskwait();
        EXPECT_EQ(done, 20 * 32);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(wait_policy, services_are_polled_at_taskwaits_of_each_policy) {
  const auto end = with_one_worker({{"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    weft::start();
    std::atomic<int> polled{0};
    const weft::service at_waits("counts", weft::poll_point::taskwait,
                                 [&polled] { return ++polled, false; });
    for (const char *const policy : {"suspend", "help"}) {
      weft::tune::set("wait.policy", policy);
      const int before = polled;
      static_cast<void>(wait_for_a_child());
      EXPECT_GT(polled, before) << policy;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Helps in every second wait. Shows what a policy is: one class.
class helps_now_and_then final : public wait_policy {
 public:
  [[nodiscard]] bool helps(std::uint32_t helped) const override {
    return (helped == 0 ? m_waits++ : m_waits.load()) % 2 == 0;
  }
  [[nodiscard]] bool sleeps() const override { return false; }

 private:
  mutable std::atomic<int> m_waits{0};
};

TEST(wait_policy, of_a_test_is_one_class) {
  const auto end = with_one_worker({{"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    static const helps_now_and_then policy;
    weft::start();
    for (int round = 0; round != 3; ++round) {
      std::uint64_t suspended[2] = {};
      in_task([&suspended] {
        follow_wait_policy(policy);
        for (std::uint64_t &each : suspended) {
          const std::uint64_t before = weft::stats().suspended;
          weft::spawn([] {});
          weft::taskwait();
          each = weft::stats().suspended - before;
        }
        follow_wait_policy(wait_by_help());
      });
      EXPECT_EQ(suspended[0], 0u);
      EXPECT_EQ(suspended[1], 1u);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace

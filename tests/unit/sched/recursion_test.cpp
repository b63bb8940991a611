// SPDX-License-Identifier: Apache-2.0
// A recursion without cut-off goes in depth under every policy: few frames are ever suspended.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

namespace {

long fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
  weft::task_group group;
  group.spawn([&x, n] { x = fib(n - 1); });
  const long y = fib(n - 2);
  group.wait();
  return x + y;
}

long fib_of_children(long n) {
  if (n < 2)
    return n;
  long x = 0, y = 0;
  weft::spawn([&x, n] { x = fib_of_children(n - 1); }, weft::priority(3));
  weft::spawn([&y, n] { y = fib_of_children(n - 2); }, weft::priority(3));
  weft::taskwait();
  return x + y;
}

struct configuration {
  const char *policy;
  const char *lock;
  const char *workers;
  const char *lock_queues = "1";
  friend void PrintTo(const configuration &c, std::ostream *to) {
    *to << c.policy << " " << c.lock << " " << c.workers << " " << c.lock_queues;
  }
};

class recursion : public testing::TestWithParam<configuration> {
 protected:
  [[nodiscard]] test::environment settings() const {
    const configuration &c = GetParam();
    return {{"WEFT_SCHED_POLICY", c.policy},
            {"WEFT_SCHED_LOCK", c.lock},
            {"WEFT_WORKERS", c.workers},
            {"WEFT_SCHED_LOCK_QUEUES", c.lock_queues}};
  }
  /// With one worker nothing is taken away from a waiter; only the waits on the thread's own stack suspend, one per level. With more each suspension needs a task that another worker took,
  /// and those are the large ones: breadth first would suspend more than every second of the frames.
  void expect_few_suspensions() const {
    const weft::statistics s = weft::stats();
    EXPECT_LE(s.suspended, GetParam().workers == std::string("1") ? 18 : s.spawned / 10)
        << s.spawned << " tasks";
  }
};

TEST_P(recursion, of_groups_goes_in_depth) {
  const test::ending end = test::in_process(settings(), [this] {
    EXPECT_EQ(fib(18), 2584);
    expect_few_suspensions();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_P(recursion, of_urgent_children_goes_in_depth) {
  const test::ending end = test::in_process(settings(), [this] {
    EXPECT_EQ(fib_of_children(15), 610);
    expect_few_suspensions();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

std::vector<configuration> configurations() {
  std::vector<configuration> all;
  for (const char *workers : {"1", "2", "8"}) {
    for (const char *policy : {"stealing", "delegated", "local-fifo", "central"})
      all.push_back({policy, "delegation", workers});
    all.push_back({"delegated", "ticket", workers});
    all.push_back({"delegated", "delegation", workers, "2"});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(, recursion, testing::ValuesIn(configurations()));

} // namespace

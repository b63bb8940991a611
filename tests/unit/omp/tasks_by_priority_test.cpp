// SPDX-License-Identifier: Apache-2.0
// In which order a team's list gives tasks: layers/omp/src/task/tasks_by_priority.hpp.
#include "layers/omp/src/task/tasks_by_priority.hpp"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

struct fake_task {
  int priority = 0;
  int number = 0;
  fake_task *newer = nullptr, *older = nullptr;
};

class tasks_by_priority : public testing::Test {
 protected:
  weft_omp::tasks_by_priority<fake_task> list;
  std::deque<fake_task> tasks;

  fake_task &add(int priority) {
    fake_task &task = tasks.emplace_back();
    task.priority = priority;
    task.number = static_cast<int>(tasks.size()) - 1;
    list.add(task);
    return task;
  }
  fake_task *take() {
    return list.take([](const fake_task &) { return true; });
  }
  std::vector<int> take_all() {
    std::vector<int> numbers;
    while (const fake_task *const first = list.first()) {
      const fake_task *const task = take();
      EXPECT_EQ(task, first);
      if (!task)
        break;
      numbers.push_back(task->number);
    }
    EXPECT_EQ(take(), nullptr);
    return numbers;
  }
};

TEST_F(tasks_by_priority, gives_none_when_it_is_empty) {
  EXPECT_EQ(list.first(), nullptr);
  EXPECT_EQ(take(), nullptr);
}

TEST_F(tasks_by_priority, gives_larger_ones_first_and_the_oldest_among_equals) {
  for (const int priority : {0, 3, 0, 1, 3, 2, 1, 0})
    add(priority);
  EXPECT_EQ(take_all(), (std::vector{1, 4, 5, 3, 6, 0, 2, 7}));
}

TEST_F(tasks_by_priority, uses_a_list_again_that_was_empty) {
  for (int round = 0; round < 3; ++round) {
    tasks.clear();
    add(5);
    add(round);
    add(5);
    EXPECT_EQ(take_all(), (std::vector{0, 2, 1}));
  }
}

TEST_F(tasks_by_priority, takes_the_first_that_suits_and_keeps_the_others) {
  for (const int priority : {2, 2, 2, 0, 0, 0, 1})
    add(priority);
  const auto take_number = [this](int number) {
    return list.take([number](const fake_task &task) { return task.number == number; });
  };
  for (const int number : {1, 4, 6, 0, 5}) { // in the middle, alone, the oldest, the newest
    const fake_task *const task = take_number(number);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->number, number);
  }
  EXPECT_EQ(take_number(1), nullptr);
  add(2);
  add(0);
  EXPECT_EQ(take_all(), (std::vector{2, 7, 3, 8}));
}

TEST_F(tasks_by_priority, agrees_with_a_stable_sort) {
  std::mt19937 random(1);
  std::vector<fake_task *> there;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0 || there.empty()) {
      fake_task &task = add(static_cast<int>(random() % 20));
      auto at = there.begin();
      while (at != there.end() && (*at)->priority >= task.priority)
        ++at;
      there.insert(at, &task);
      continue;
    }
    const int below = static_cast<int>(random() % 21);
    const auto suits = [below](const fake_task &task) { return task.priority < below; };
    const auto expected =
        std::find_if(there.begin(), there.end(), [&](const fake_task *task) { return suits(*task); });
    const fake_task *const got = list.take(suits);
    ASSERT_EQ(got, expected == there.end() ? nullptr : *expected);
    if (got)
      there.erase(expected);
    ASSERT_EQ(list.first(), there.empty() ? nullptr : there.front());
  }
}

} // namespace

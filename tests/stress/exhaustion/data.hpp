// SPDX-License-Identifier: Apache-2.0
// What tasks do to data beyond in, out and inout: each kind of access once, and what comes of it is known.
#pragma once

#include "stress/exhaustion/program.hpp"

namespace exhaustion {

inline void expect_equal(long is, long should_be, const char *what) {
  if (is == should_be)
    return;
  std::fprintf(stderr, "exhaustion: %ld instead of %ld: ", is, should_be);
  wrong(what);
}

inline void weak_parents() {
  static int value = 0;
  static std::atomic<int> expected{0};
  for (int i = 0; i != 10; ++i)
    try_spawn(
        [] {
          for (int k = 0; k != 4; ++k)
            expected += try_spawn([] { ++value; }, weft::inout(value));
        },
        weft::weak_inout(value));
  taskwait();
  expect_equal(value, expected, "children of weak parents have lost an update");
}

inline void turns() {
  static std::array<int, 2> both{};
  static std::atomic<int> at_once{0};
  static int between = 0;
  int expected = 0, free = 0;
  for (int i = 0; i != 30; ++i) {
    expected += try_spawn([] { ++both[0], ++both[1]; }, weft::commutative(both[0]),
                          weft::commutative(both[1]));
    free += try_spawn([] { ++at_once; }, weft::concurrent(between));
    if (i % 10 == 9)
      try_spawn(
          [free] {
            expect_equal(at_once, free, "a task comes before the concurrent ones that it follows");
          },
          weft::inout(between));
  }
  taskwait();
  expect_equal(both[0], expected, "commutative tasks have lost an update");
  expect_equal(both[1], expected, "commutative tasks have lost an update of the other object");
}

/// A copy that cannot be had is an error of the task that asks for it.
inline void add(long &total, std::atomic<long> &added) {
  attempt([&] {
    long &mine = weft::reduction_local(total);
    attempt([] { weft::taskyield(); });
    ++mine;
    ++added;
  });
}

inline void reductions() {
  static long total = 0, nested = 0;
  static std::atomic<long> added{0}, added_below{0};
  for (int i = 0; i != 30; ++i) {
    try_spawn([] { add(total, added); }, weft::reduction(total, weft::sum));
    if (i % 5 == 0)
      try_spawn(
          [] {
            for (int k = 0; k != 4; ++k)
              try_spawn([] { add(nested, added_below); }, weft::reduction(nested, weft::sum, 0L));
          },
          weft::weak_reduction(nested, weft::sum, 0L));
    if (i % 10 == 9)
      try_spawn(
          [] {
            expect_equal(total, added, "a reader finds less than the tasks before it have added");
          },
          weft::in(total));
  }
  taskwait();
  expect_equal(total, added, "a reduction has lost something");
  expect_equal(nested, added_below, "a reduction of children has lost something");
}

inline void regions() {
  static std::array<int, 64> row{};
  static std::array<std::atomic<int>, 64> expected{};
  const auto expect_in = [](int first, int count) {
    for (int k = first; k != first + count; ++k)
      ++expected[static_cast<std::size_t>(k)];
  };
  const auto increase = [](int first, int count) {
    for (int k = first; k != first + count; ++k)
      ++row[static_cast<std::size_t>(k)];
  };
  for (int i = 0; i != 20; ++i) {
    const int first = i * 7 % 49;
    if (try_spawn([=] { increase(first, 16); }, weft::inout(weft::region(row).span(first, 16))))
      expect_in(first, 16);
    if (i % 5 == 0)
      try_spawn(
          [=] {
            for (int part = 0; part != 4; ++part)
              if (try_spawn([=] { increase(16 * part, 16); },
                            weft::inout(weft::region(row).span(16 * part, 16))))
                expect_in(16 * part, 16);
          },
          weft::weak_inout(weft::region(row)));
    if (i % 5 == 1)
      try_spawn(
          [=] {
            attempt([] { weft::release(weft::inout(weft::region(row).span(8, 8))); });
            attempt([] { weft::this_task::sleep_for(10us); });
          },
          weft::inout(weft::region(row).span(0, 32)));
  }
  taskwait();
  for (std::size_t k = 0; k != row.size(); ++k)
    expect_equal(row[k], expected[k], "tasks of regions have lost an update");
}

inline void releases() {
  static int value = 0;
  int expected = 0;
  for (int i = 0; i != 12; ++i)
    expected += try_spawn(
        [] {
          ++value;
          attempt([] { weft::release(weft::inout(value)); });
          attempt([] { weft::this_task::sleep_for(10us); });
        },
        weft::inout(value));
  if (attempt([] { weft::taskwait(weft::in(value)); }))
    expect_equal(value, expected, "a wait for data comes before those who write it");
  taskwait();
  expect_equal(value, expected, "a task that released its object early has lost an update");
}

struct large_local {
  char text[300] = "initial";
};

inline void task_locals() {
  for (int i = 0; i != 12; ++i)
    try_spawn([i] {
      attempt([i] {
        static weft::task_local<large_local> local;
        if (std::strcmp(local->text, "initial") != 0)
          wrong("a task has the task_local value of another one");
        local->text[0] = static_cast<char>('a' + i);
        attempt([] { weft::taskyield(); });
        if (local->text[0] != static_cast<char>('a' + i))
          wrong("a task_local value is lost");
      });
    });
  taskwait();
}

/// What is known only when the accesses allow the task to run.
inline void ready_functions() {
  static std::atomic<int> announced{0};
  static int value = 0;
  int expected = 0;
  for (int i = 0; i != 10; ++i)
    expected += try_spawn([] { ++value; }, weft::inout(value),
                          weft::onready([](void *) { ++announced; }, nullptr), weft::cost(7));
  taskwait();
  expect_equal(announced, expected, "an onready function was not called once");
  expect_equal(value, expected, "a task behind an onready function was lost");
}

inline void all_of_sharing() {
  weak_parents();
  turns();
  reductions();
}

inline void all_of_regions() { regions(); }

inline void all_of_the_rest() {
  releases();
  task_locals();
  ready_functions();
}

} // namespace exhaustion

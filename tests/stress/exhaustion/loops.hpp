// SPDX-License-Identifier: Apache-2.0
// Loops, graphs that are built once, functions and counters: each once. What did not fail is whole.
#pragma once

#include "stress/exhaustion/data.hpp"

#include <weft/counters.hpp>

namespace exhaustion {

/// How often each iteration of a loop has run.
struct hits {
  std::array<std::atomic<int>, 120> of{};
  void operator()(int i) { ++of[static_cast<std::size_t>(i)]; }
  /// Every iteration ran `rounds` times; where the loop failed, at most so often.
  void check(bool whole, int rounds, const char *what) const {
    for (const auto &n : of)
      if (n > rounds || (whole && n != rounds))
        return expect_equal(n, rounds, what);
  }
};

inline void taskloops() {
  static hits plain, with_data, left_behind;
  static std::array<int, 120> cells{};
  plain.check(attempt([] {
                weft::taskloop(weft::range(120), [](int i) { plain(i); }, weft::grain_size(7));
              }),
              1, "a taskloop is not whole");
  const bool whole = attempt([] {
    for (int round = 0; round != 2; ++round)
      weft::taskloop(
          weft::range(120),
          [](weft::range<int> part) {
            for (const int i : part)
              with_data(i);
          },
          weft::num_tasks(10), weft::chunk_accesses([](weft::range<int> part) {
            return weft::inout(cells[static_cast<std::size_t>(part.first())]);
          }));
  });
  taskwait(); // a loop with data does not wait
  with_data.check(whole, 2, "a taskloop with data is not whole");
  const bool spawned = attempt([] {
    weft::taskloop(
        weft::range(120), [](int i) { left_behind(i); }, weft::grain_size(11), weft::nogroup);
  });
  taskwait();
  left_behind.check(spawned, 1, "a taskloop that nobody waits for at once is not whole");
}

inline void taskfors() {
  static hits all;
  static int order = 0;
  const bool whole = attempt([] {
    weft::taskfor(
        weft::range(120),
        [](int i) {
          all(i);
          if (i % 40 == 0)
            attempt([] { weft::this_task::sleep_for(10us); });
        },
        weft::grain_size(5), weft::inout(order), weft::tracked)
        .get();
  });
  taskwait();
  all.check(whole, 1, "a taskfor is not whole");
}

inline void taskiters() {
  constexpr int k_rounds = 5;
  static hits all, while_asked;
  static std::array<int, 121> cells{};
  static long total = 0;
  static int asked = 0;
  const auto sweep = [](hits &h, int tasks) {
    for (int i = 0; i != tasks; ++i)
      weft::spawn([&h, i] { h(i); }, weft::in(cells[static_cast<std::size_t>(i)]),
                  weft::inout(cells[static_cast<std::size_t>(i + 1)]));
  };
  const bool whole = attempt([&] {
    weft::taskiter(
        k_rounds,
        [sweep] {
          sweep(all, 120);
          for (int i = 0; i != 4; ++i)
            weft::spawn([] { ++weft::reduction_local(total); }, weft::reduction(total, weft::sum));
        },
        weft::tracked)
        .get();
  });
  const bool was_whole = attempt([&] {
    weft::taskiter([] { return ++asked <= k_rounds; }, [sweep] { sweep(while_asked, 120); },
                   weft::tracked)
        .get();
  });
  taskwait();
  all.check(whole, k_rounds, "a taskiter is not whole");
  while_asked.check(was_whole, k_rounds, "a taskiter with a condition is not whole");
  if (whole)
    expect_equal(total, 4 * k_rounds, "a reduction of a taskiter has lost something");
}

/// Spawns functions, for which only the end of the program waits, and a stream where there is
/// memory for an empty function.
struct functions {
  std::atomic<int> begun{0}, completed{0};
  int in_order = 0; // of a stream: one at a time
  int taken = 0;

  static void body(void *p) { ++static_cast<functions *>(p)->begun; }
  static void body_in_order(void *p) {
    ++static_cast<functions *>(p)->in_order;
    body(p);
  }
  static void complete(void *p) { ++static_cast<functions *>(p)->completed; }

  void spawn(void (*f)(void *), const weft::function_options &options) {
    taken += attempt([&] { weft::spawn_function(f, this, &complete, this, options); });
  }
  void wait_for_all(const char *what) const {
    for (int i = 0; i != 20'000 && completed != taken; ++i) {
      attempt([] { weft::taskyield(); });
      std::this_thread::sleep_for(100us);
    }
    expect_equal(begun, taken, what);
    expect_equal(completed, taken, what);
  }
};

inline void independent_functions() {
  static functions loose;
  for (int i = 0; i != 10; ++i)
    loose.spawn(&functions::body, {});
  loose.wait_for_all("an independent function was lost");
}

inline void streams() {
  static functions of_stream;
  attempt([] {
    weft::function_stream log("log");
    weft::function_options options;
    options.in = &log;
    for (int i = 0; i != 20; ++i)
      of_stream.spawn(&functions::body_in_order, options);
    attempt([&] { log.wait(); });
  });
  of_stream.wait_for_all("a function of a stream was lost");
  expect_equal(of_stream.in_order, of_stream.taken,
               "functions of a stream were not one after another");
}

/// Only the last worker may run them, in a pool that may be smaller than it was to be.
inline void confined_functions() {
  static functions confined;
  attempt([] {
    weft::function_options options;
    options.on = weft::worker_set::of_workers({weft::worker_count() - 1});
    for (int i = 0; i != 5; ++i)
      confined.spawn(&functions::body, options);
  });
  confined.wait_for_all("a function of a set of workers was lost");
}

inline void counters() {
  attempt([] {
    static weft::counters::counter things("/exhaustion/things", "what was counted", "1");
    things.add(3);
    const auto before = weft::counters::take();
    try_spawn([] { things.add(); });
    taskwait();
    const double spawned = (weft::counters::take() - before).value("/exhaustion/things");
    if (spawned > 1)
      wrong("a counter of the program counts more than there was");
  });
  attempt([] {
    static std::atomic<int> calls{0};
    const weft::counters::at_intervals often(
        1ms,
        [](const weft::counters::snapshot &, const weft::counters::snapshot &, void *) { ++calls; },
        nullptr);
    attempt([] { weft::this_task::sleep_for(1500us); });
  });
}

inline void all_of_loops() {
  taskfors();
  taskloops();
}

inline void all_of_graphs() { taskiters(); }

inline void all_of_functions() {
  independent_functions();
  streams();
  confined_functions();
  counters();
}

} // namespace exhaustion

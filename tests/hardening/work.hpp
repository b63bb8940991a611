// SPDX-License-Identifier: Apache-2.0
// A piece of work that uses most of Weft and knows its result, and the settings of rough cases.
#pragma once

#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>

namespace test {

// Rough cases do on purpose what sanitizers report: threads that are never joined, threads after a
// fork, memory that is left where a process ends in the middle.
inline const environment k_rough = {
    {"TSAN_OPTIONS", "halt_on_error=1:report_thread_leaks=0:die_after_fork=0"},
    {"ASAN_OPTIONS", "detect_leaks=0"}};

inline environment rough(environment more) {
  more.insert(more.end(), k_rough.begin(), k_rough.end());
  return more;
}

inline int leaves(int depth) {
  if (depth == 0)
    return 1;
  int left = 0, right = 0;
  weft::join([&] { left = leaves(depth - 1); }, [&] { right = leaves(depth - 1); });
  return left + right;
}

/// Tasks with and without accesses, suspensions, a group, a mutex and joins. True when the result is right.
inline bool works() {
  int chain = 0, under_mutex = 0;
  std::atomic<int> loose{0};
  weft::mutex m;
  for (int i = 0; i != 50; ++i) {
    weft::spawn([&] { ++chain; }, weft::inout(chain));
    weft::spawn([&] { weft::taskyield(), ++loose; });
    weft::spawn([&] {
      std::lock_guard guard(m);
      weft::taskyield();
      ++under_mutex;
    });
  }
  weft::task_group group;
  for (int i = 0; i != 10; ++i)
    group.spawn([&] { weft::this_task::sleep_for(std::chrono::microseconds(50)), ++loose; });
  group.wait();
  weft::taskwait();
  return chain == 50 && under_mutex == 50 && loose == 60 && leaves(7) == 128;
}

} // namespace test

// SPDX-License-Identifier: Apache-2.0
// The common part of the sample programs of all C++ runtimes: one process measures one workload
// once and prints its metrics, one `name value` per line; `ns` is the time per task.
//
//     <program> WORKLOAD WORKERS COUNT [BODY_NS]
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace sample {

struct request {
  std::string_view workload;
  int workers = 2;
  long count = 0;   // tasks; sweeps of wavefront; n of fib
  long body_ns = 0; // 0: the body is empty
};

inline request parse(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s WORKLOAD WORKERS COUNT [BODY_NS]\n", argv[0]);
    std::exit(2);
  }
  return {argv[1], std::atoi(argv[2]), std::atol(argv[3]), argc > 4 ? std::atol(argv[4]) : 0};
}

[[noreturn]] inline void refuse(const request &r) {
  std::fprintf(stderr, "this runtime has no workload '%.*s'\n", static_cast<int>(r.workload.size()),
               r.workload.data());
  std::exit(2);
}

inline void print(const char *metric, double value) { std::printf("%s %.6g\n", metric, value); }

inline long now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Is a task's body: computes for `ns`.
inline void work(long ns) {
  if (ns == 0)
    return;
  for (const long end = now_ns() + ns; now_ns() < end;) {
  }
}

template <class F>
double time_ns(F f) {
  const long begin = now_ns();
  f();
  return static_cast<double>(now_ns() - begin);
}

/// Creates threads, pools and page tables before the clock runs. The size is fixed, so that it
/// cancels in the difference of two sizes.
inline constexpr long k_warm_up = 1000;
inline constexpr long k_warm_up_fib = 12;

// The grid of wavefront has a border, so that every cell has a left and an upper neighbour.
inline constexpr int k_side = 300;
inline constexpr int k_row = k_side + 1;

inline long fib(long n) {
  long a = 0;
  for (long b = 1; n > 0; --n)
    b = std::exchange(a, b) + b;
  return a;
}
/// Returns the number of calls of fib(n) that spawn.
inline long fib_tasks(long n) { return fib(n + 1) - 1; }

inline void require(bool right, const char *what) {
  if (!right) {
    std::fprintf(stderr, "wrong result: %s\n", what);
    std::exit(1);
  }
}

/// Returns METG(50 %): the shortest body, in ns, with which the stencil still reaches half of the
/// throughput of its best point. `run(steps, body_ns)` runs `steps` times two tasks. Bodies shrink
/// by the root of two; the crossing is interpolated on logarithms. One point that a busy machine
/// has spoilt does not end the sweep; four in a row do.
template <class Run>
double metg(int workers, Run run) {
  constexpr double work_ns = 20e6; // of one point, in an ideal world
  constexpr long most_steps = 20'000;
  const int columns_at_once = workers < 2 ? 1 : 2;
  double best = 0, shortest = 0, last_body = 0, last_efficiency = 0;
  int misses = 0;
  for (double body = 128e3; body > 50 && misses < 4; body /= std::sqrt(2.0)) {
    const long steps = std::min(most_steps, static_cast<long>(work_ns / body));
    const double actual = time_ns([&] { run(steps, static_cast<long>(body)); });
    const double efficiency = body * 2 / columns_at_once * static_cast<double>(steps) / actual;
    best = std::max(best, efficiency);
    const double half = best / 2;
    if (efficiency >= half)
      shortest = body;
    else if (last_efficiency >= half)
      shortest = last_body * std::pow(body / last_body,
                                      (last_efficiency - half) / (last_efficiency - efficiency));
    misses = efficiency >= half ? 0 : misses + 1;
    last_body = body;
    last_efficiency = efficiency;
  }
  return shortest;
}

} // namespace sample

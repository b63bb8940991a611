// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include "process.hpp"
#include "results.hpp"
#include "sampler.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

/// Widens the bounds of instructions for what other versions of the compiler add.
#if defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__)
constexpr double k_slack = 1;
#else
constexpr double k_slack = 1.03;
#endif

const contender k_weft{"weft", "bin/weft-sample", {}};

/// Prints one line; returns true when the value is within its bound.
bool report(const std::string &what, double value, double bound, const char *unit) {
  const bool met = value <= bound;
  std::printf("%-28s %8.2f %s (bound %g)%s\n", what.c_str(), value, unit, bound,
              met ? "" : "  MISSED");
  std::fflush(stdout);
  return met;
}

/// Holds what a run executes: instructions, and those among them that lock the bus.
struct executed {
  double instructions = 0, locked = 0;
};

executed execute(const std::string &program, const std::string &workload, long count) {
  const outcome result =
      run({"valgrind", "--tool=callgrind", "--collect-bus=yes", "--callgrind-out-file=/dev/null",
           program, workload, "1", std::to_string(count)});
  const std::string mark = "Collected : ";
  const std::size_t at = result.output.find(mark);
  if (!result.ok || at == std::string::npos)
    throw std::runtime_error("callgrind failed at " + workload + ": " + result.output);
  executed all;
  std::istringstream(result.output.substr(at + mark.size())) >> all.instructions >> all.locked;
  return all;
}

long fib_tasks(long n) { return n < 2 ? 0 : 1 + fib_tasks(n - 1) + fib_tasks(n - 2); }

double ns_of(const std::string &workload, long count) {
  return take_sample(k_weft, {"", workload, workload, 2, count, 0, {}}).front().second;
}

} // namespace

int check_instructions() {
  if (!run({"valgrind", "--version"}).ok) {
    std::puts("instructions: skipped, valgrind was not found (apt-get install valgrind)");
    return 77;
  }
  struct subject {
    const char *name, *workload;
    long few, many;
    double tasks;
    double bound; // what GCC 12's code takes; a rebuild varies by less than one instruction
    const char *program = "weft-sample";
    double locked = -1; // bound of the locked ones among them, which are exact; -1: not checked
  };
  // Both sizes of the first and the last row lie beyond the throttle, where the cost per task is
  // steady.
  const subject subjects[] = {
      {"chain", "chain", 100'000, 200'000, 100'000, 335},
      {"C, prepare and submit", "c-chain", 100'000, 200'000, 100'000, 437},
      {"C, by hand for Clang", "by-hand", 100'000, 200'000, 100'000, 432, "weft-oss-sample"},
      {"C, a task of #pragma oss", "pragma", 100'000, 200'000, 100'000, 452, "weft-oss-sample"},
      {"C++, a task of #pragma oss", "pragma", 100'000, 200'000, 100'000, 332,
       "weft-oss-sample-cxx"},
      {"join", "fib-join", 18, 22, static_cast<double>(fib_tasks(22) - fib_tasks(18)), 118},
      {"spawn in a group", "group-spawn", 200'000, 300'000, 100'000, 251},
      {"coroutine, a ready child", "coroutine-child", 100'000, 200'000, 100'000, 130},
      {"coroutine, left and resumed", "coroutine-suspend", 100'000, 200'000, 100'000, 260},
      {"reducing", "reduce", 100'000, 200'000, 100'000, 480},
      {"reducing, reads two vectors", "dot", 100'000, 200'000, 100'000, 1470},
      {"concurrent", "concurrent", 100'000, 200'000, 100'000, 394},
      {"chain of a region", "region-chain", 100'000, 200'000, 100'000, 630},
      {"chains of 64 tiles", "region-tiles", 100'000, 200'000, 100'000, 630},
      {"async, get in place", "async-get", 100'000, 200'000, 100'000, 288},
      {"promise, set and get", "set-get", 100'000, 200'000, 100'000, 151},
      {"then, a chain", "then-chain", 100'000, 200'000, 100'000, 368},
      {"when_all, an input", "when-all", 100'000, 200'000, 100'000, 44},
      {"mutex, lock and unlock", "mutex", 100'000, 200'000, 100'000, 18, "weft-rows-weft", 2},
      {"latch, count down and wait", "latch", 100'000, 200'000, 100'000, 44, "weft-rows-weft", 1},
      {"semaphore, take and give", "semaphore", 100'000, 200'000, 100'000, 18, "weft-rows-weft", 2},
      {"taskiter, a chain", "iterate-chain", 100'000, 200'000, 100'000, 140},
      {"taskiter, independent", "iterate-independent", 100'000, 200'000, 100'000, 120},
  };
  bool all_within = true;
  for (const subject &s : subjects) {
    const std::string program = build_folder() + "/bin/" + s.program;
    if (!std::filesystem::exists(program)) {
      std::printf("%s: left out, there is no %s\n", s.name, s.program);
      continue;
    }
    const executed many = execute(program, s.workload, s.many),
                   few = execute(program, s.workload, s.few);
    const double per_task = (many.instructions - few.instructions) / s.tasks;
    if (!report(s.name, per_task, s.bound * k_slack, "instructions per task")) {
      std::printf("%s: a fast path has grown\n", s.name);
      all_within = false;
    }
    const double locked = std::round((many.locked - few.locked) / s.tasks * 100) / 100;
    if (s.locked >= 0 && !report(s.name, locked, s.locked, "locked instructions per task")) {
      std::printf("%s: a fast path has one more atomic operation\n", s.name);
      all_within = false;
    }
  }
  return all_within ? 0 : 1;
}

int check_memory() {
  const double bytes =
      take_sample(k_weft, {"", "memory", "memory", 1, 1'000'000, 0, {}}).front().second;
  return report("pending task", bytes, 320, "bytes") ? 0 : 1;
}

int check_beside(int busy, int runs) {
  struct subject {
    const char *workload;
    long count;
    std::vector<double> alone, beside;
    [[nodiscard]] double slowdown() const { return median(beside) / median(alone); }
  };
  subject plain{"plain-threads", 100'000'000, {}, {}};
  subject subjects[] = {{"independent", 1'000'000, {}, {}}, {"chain", 1'000'000, {}, {}},
                        {"two-wave", 200'000, {}, {}},      {"wavefront", 5, {}, {}},
                        {"fib-spawn", 29, {}, {}},          {"fib-join", 33, {}, {}}};
  const auto sample_all = [&](std::vector<double> subject::*into) {
    (plain.*into).push_back(ns_of(plain.workload, plain.count));
    for (subject &s : subjects)
      (s.*into).push_back(ns_of(s.workload, s.count));
  };
  for (int n = 0; n < runs; ++n) {
    sample_all(&subject::alone);
    const busy_processes neighbours(busy);
    sample_all(&subject::beside);
  }
  std::printf("beside %d busy processes two plain threads are %.2f times slower\n", busy,
              plain.slowdown());
  bool all_met = true;
  for (const subject &s : subjects)
    all_met &= report(s.workload, s.slowdown() / plain.slowdown(), 1.5, "times that");
  return all_met ? 0 : 1;
}

} // namespace bench

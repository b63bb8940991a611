// SPDX-License-Identifier: Apache-2.0
// Programs whose work changes while they run: a loop that sizes itself, and a knob that a session
// tunes, each beside the best fixed value of each phase; and a knob whose values are equally good.
#include "phases.hpp"

#include "ways.hpp"

#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace adapt {

namespace {

using steady = std::chrono::steady_clock;

constexpr int k_windows = 3; // after a phase has begun, which do not count

std::atomic<std::uint64_t> g_sum{0}; // so that no work is left out

template <class F>
double ns_of(F f) {
  const auto begin = steady::now();
  f();
  return static_cast<double>(std::chrono::nanoseconds(steady::now() - begin).count());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Calls `round(phase)` again and again, with the number of the phase of that moment, which is 0 or
/// 1. It returns ways with times, of which those of the first windows of a phase do not count. A phase
/// lasts until at least one counts, and the run until both phases are over.
template <class Round>
std::array<std::map<std::string, std::vector<double>>, 2> run_phases(const phase_plan &plan,
                                                                      Round round) {
  std::array<std::map<std::string, std::vector<double>>, 2> all;
  const auto begin = steady::now();
  auto began = begin; // the phase
  std::size_t phase = 0;
  for (int windows = 0, phases = 0;; ++windows) {
    const auto now = steady::now();
    if (windows > k_windows && now - began >= plan.period) {
      phase = 1 - phase;
      began = now;
      windows = 0;
      ++phases;
    }
    if (now - begin >= plan.length && phases >= 2)
      return all;
    for (const auto &[way, ns] : round(phase))
      if (windows >= k_windows)
        all[phase][way].push_back(ns);
  }
}

/// Prints the ways: the sum of the medians of both phases. The best fixed way may be another one in
/// each phase.
void show(std::array<std::map<std::string, std::vector<double>>, 2> all) {
  double serial = 0, self = 0, best_of_both = 0;
  std::string names;
  for (auto &of_phase : all) {
    double best = 0;
    std::string name;
    for (const auto &[way, times] : of_phase) {
      const double ns = median(times);
      if (way != "serial" && way != "self" && (best == 0 || ns < best))
        best = ns, name = way;
    }
    serial += median(of_phase["serial"]);
    self += median(of_phase["self"]);
    best_of_both += best;
    names += (names.empty() ? "" : "+") + name;
  }
  std::printf("serial %.0f\nself %.0f\n%s %.0f\n", serial, self, names.c_str(), best_of_both);
}

struct loop_phase {
  std::uint64_t n, cost;
};
constexpr loop_phase k_loops[] = {{20'000, 10}, {200, 1000}};

constexpr std::uint64_t k_grains[] = {1, 16, 256, 4096};

void run_loop_phases(const phase_plan &plan) {
  const auto part = [](const loop_phase &of, std::uint64_t first, std::uint64_t end) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = first; i < end; ++i)
      sum += steps(i, of.cost);
    g_sum.fetch_add(sum, std::memory_order_relaxed);
  };
  const auto shared = [&](const loop_phase &of, auto... grain) {
    weft::taskfor(
        weft::range<std::uint64_t>(of.n),
        [&](const weft::range<std::uint64_t> &r) { part(of, r.first(), r.limit()); }, grain...);
  };
  show(run_phases(plan, [&](std::size_t phase) {
    const loop_phase &of = k_loops[phase];
    std::vector<std::pair<std::string, double>> seen;
    seen.emplace_back("serial", ns_of([&] { part(of, 0, of.n); }));
    seen.emplace_back("self", ns_of([&] { shared(of); })); // one call site in both phases
    for (const std::uint64_t grain : k_grains)
      if (grain < of.n && grain * of.cost >= 1000)
        seen.emplace_back(std::to_string(grain), ns_of([&] { shared(of, weft::grain_size(grain)); }));
    return seen;
  }));
}

constexpr std::int64_t k_values[] = {1, 2, 4, 8, 16};
constexpr std::size_t k_default = 2, k_best[] = {1, 4}; // of the values, in each phase
constexpr std::uint64_t k_steps = 100'000;              // of a call with the best value

/// Returns the steps of a call: a quarter more for each value between this one and the best one.
std::uint64_t steps_with(std::int64_t value, std::size_t phase) {
  const auto at = std::find(std::begin(k_values), std::end(k_values), value) - std::begin(k_values);
  const auto away = static_cast<std::uint64_t>(std::abs(at - static_cast<std::ptrdiff_t>(k_best[phase])));
  return k_steps + k_steps / 4 * away;
}
void work_with(std::int64_t value, std::size_t phase) {
  g_sum.fetch_add(steps(static_cast<std::uint64_t>(value), steps_with(value, phase)),
                  std::memory_order_relaxed);
}

void run_session_phases(const phase_plan &plan) {
  weft::tune::knob knob("adapt.value", k_values[k_default],
                        std::vector<std::int64_t>(std::begin(k_values), std::end(k_values)));
  weft::tune::session tuned(knob);
  show(run_phases(plan, [&](std::size_t phase) {
    const double self = ns_of([&] {
      weft::tune::trial one(tuned, 1);
      work_with(knob.value(), phase);
    });
    const double fixed = ns_of([&] { work_with(k_values[k_default], phase); });
    const double best = ns_of([&] { work_with(k_values[k_best[phase]], phase); });
    return std::vector<std::pair<std::string, double>>{
        {"self", self}, {"serial", fixed}, {std::to_string(k_values[k_best[phase]]), best}};
  }));
}

void run_equal_ways(const phase_plan &plan) {
  weft::tune::knob knob("adapt.value", k_values[k_default],
                        std::vector<std::int64_t>(std::begin(k_values), std::end(k_values)));
  weft::tune::session tuned(knob);
  // A trial is one call between two with the present value, so a value that two calls have is kept.
  std::int64_t kept = k_values[k_default], last = kept;
  int changes = 0;
  const auto end = steady::now() + plan.length;
  while (steady::now() < end) {
    weft::tune::trial one(tuned, 1);
    const std::int64_t value = knob.value();
    if (std::exchange(last, value) == value && value != kept) {
      kept = value;
      ++changes;
    }
    g_sum.fetch_add(steps(1, k_steps), std::memory_order_relaxed);
  }
  std::printf("changes %d\nseconds %.3f\ntrials %zu\n", changes,
              std::chrono::duration<double>(plan.length).count(), tuned.trials());
}

} // namespace

const std::vector<std::string> &phase_names() {
  static const std::vector<std::string> all{"loop-phases", "session-phases", "equal-ways"};
  return all;
}

void run_phases(const std::string &name, const phase_plan &plan) {
  if (name == "loop-phases")
    run_loop_phases(plan);
  else if (name == "session-phases")
    run_session_phases(plan);
  else
    run_equal_ways(plan);
}

} // namespace adapt

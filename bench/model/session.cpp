// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "tune/paired_trials.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>

namespace session_model {

namespace rt = weft::rt;

double time_of(const parameters &p, int value, bool in_second_phase) {
  const double grain = std::ldexp(1.0, value), tasks = std::ceil(p.points / grain);
  const double unit = p.point_ns * (in_second_phase ? 8 : 1);
  const double rounds = std::ceil(tasks / p.workers);
  return p.wake_ns + rounds * (std::min(grain, p.points) * unit + p.overhead_ns);
}

namespace {

bool second_phase(const parameters &p, unsigned window) { return p.phase != 0 && window / p.phase % 2 == 1; }

int best_of(const parameters &p, bool in_second_phase) {
  int best = 0;
  for (int i = 1; i < p.values; ++i)
    if (time_of(p, i, in_second_phase) < time_of(p, best, in_second_phase))
      best = i;
  return best;
}

std::unique_ptr<rt::search> begin_search(const rt::lattice &space, const rt::lattice_point &first, void *of) {
  const auto &p = *static_cast<const parameters *>(of);
  int from = first[0];
  if (p.by_law) {
    std::vector<std::int64_t> grains;
    for (int i = 0; i < p.values; ++i)
      grains.push_back(std::int64_t{1} << i);
    from = rt::first_by_law(grains, p.overhead_ns, p.point_ns, rt::k_law_share);
  }
  return std::make_unique<rt::line_search>(space.sizes[0], from, 12, 4); // as src/tune/search_names.cpp
}

} // namespace

outcome simulate(const parameters &p, const clock &shows) {
  if (p.workers == 0 || p.workers > 4096 || p.values < 1 || p.values > 62 || p.first < 0 || p.first >= p.values ||
      !(p.points > 0) || !(p.point_ns > 0) || !(p.overhead_ns >= 0) || !(p.wake_ns >= 0) || p.windows == 0 ||
      !(p.noise >= 0) || !(p.preempted >= 0 && p.preempted <= 1) || !(p.slice_ns >= 0))
    throw std::invalid_argument("the model of a session needs 1 to 4096 workers, 1 to 62 values with the first "
                                "among them, windows, and no negative times");
  parameters own = p;
  rt::paired_trials tuner({{p.values}}, {p.first}, &begin_search, {p.budget, 0.02}, std::nullopt, &own);
  std::mt19937_64 random(p.seed);
  std::normal_distribution<double> some(0, 1);
  std::uniform_real_distribution<double> chance(0, 1);
  outcome out;
  double time = 0, best_time = 0, lost = 0;
  for (unsigned i = 0; i < p.windows; ++i) {
    const bool second = second_phase(p, i);
    const double quiet = time_of(p, tuner.point()[0], second);
    time += quiet;
    best_time += time_of(p, best_of(p, second), second);
    lost += std::max(0.0, quiet - time_of(p, tuner.present()[0], second));
    double ns = quiet * (p.noise > 0 ? std::exp(p.noise * some(random)) : 1);
    if (p.preempted > 0 && chance(random) < p.preempted)
      ns += p.slice_ns;
    if (shows)
      ns = shows(i, ns);
    const auto present = tuner.present();
    const bool was_settled = tuner.is_settled();
    const auto happened = tuner.take({p.points, static_cast<std::uint64_t>(std::max(ns, 0.0)), ns, {}});
    out.gave_up = out.gave_up || happened == rt::tuning_event::gave_up;
    out.changes += was_settled && tuner.present() != present;
    if (out.settled_after == 0 && tuner.is_settled())
      out.settled_after = i + 1;
  }
  const bool second = second_phase(p, p.windows - 1);
  out.last_over_best = time_of(p, tuner.present()[0], second) / time_of(p, best_of(p, second), second);
  out.time_over_best = time / best_time;
  out.lost = lost / time;
  out.trials = static_cast<unsigned>(tuner.trials());
  return out;
}

} // namespace session_model

// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <ostream>

namespace bench::stencil {

namespace {

/// Returns the quantile 0.95 of Student's distribution, never too small.
double quantile(int degrees) {
  static constexpr double k_first[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895,
                                       1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761,
                                       1.753, 1.746, 1.740, 1.734, 1.729, 1.725};
  return degrees <= static_cast<int>(std::size(k_first)) ? k_first[degrees - 1] : 1.725;
}

constexpr double k_none = std::numeric_limits<double>::quiet_NaN();

} // namespace

summary summarize(const std::vector<double> &values) {
  summary s;
  s.count = static_cast<int>(values.size());
  if (values.empty())
    return s;
  for (const double value : values)
    s.mean += value / s.count;
  if (s.count < 2)
    return s;
  double squares = 0;
  for (const double value : values)
    squares += (value - s.mean) * (value - s.mean);
  s.deviation = std::sqrt(squares / (s.count - 1));
  s.half = quantile(s.count - 1) * s.deviation / std::sqrt(s.count);
  return s;
}

double harmonic_mean(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values) {
    if (value <= 0)
      return 0;
    sum += 1 / value;
  }
  return values.empty() ? 0 : static_cast<double>(values.size()) / sum;
}

double correlation(const std::vector<double> &first, const std::vector<double> &second) {
  const std::size_t n = std::min(first.size(), second.size());
  if (n < 3)
    return k_none;
  const double mean_first = summarize(first).mean, mean_second = summarize(second).mean;
  double both = 0, squares_first = 0, squares_second = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = first[i] - mean_first, b = second[i] - mean_second;
    both += a * b;
    squares_first += a * a;
    squares_second += b * b;
  }
  const double scale = std::sqrt(squares_first) * std::sqrt(squares_second);
  return scale > 0 ? both / scale : k_none;
}

metrics metrics_of(const counts &c, int workers, double reference) {
  metrics m;
  m.time = c.ns;
  m.idle_rate = c.overall > 0 ? c.overhead / c.overall : 0;
  m.duration = c.tasks > 0 ? c.exec / c.tasks : 0;
  m.overhead = c.tasks > 0 ? c.overhead / c.tasks : 0;
  m.management = c.overhead / workers;
  m.wait = m.duration - reference;
  m.wait_per_core = m.wait * c.tasks / workers;
  m.creation = c.ns - c.overall / workers;
  m.accesses = c.accesses;
  m.misses = c.misses;
  return m;
}

const std::vector<range> &all_ranges() {
  static const std::vector<range> ranges{
      {"very fine", 15'625, 27.5},
      {"fine", 80'000, 113},
      {"lower medium", 160'000, 217},
      {"upper medium", 400'000, 541},
      {"coarse", 800'000, 1140},
      {"very coarse", std::numeric_limits<long>::max(), std::numeric_limits<double>::infinity()}};
  return ranges;
}

std::size_t range_of_points(long points) {
  const auto &ranges = all_ranges();
  return static_cast<std::size_t>(
      std::find_if(ranges.begin(), ranges.end(),
                   [points](const range &r) { return points <= r.most_points; }) -
      ranges.begin());
}

std::size_t range_of_duration(double us) {
  const auto &ranges = all_ranges();
  return static_cast<std::size_t>(
      std::find_if(ranges.begin(), ranges.end(), [us](const range &r) { return us <= r.most_us; }) -
      ranges.begin());
}

namespace {

/// Is the thesis' table 2 of a Haswell node, WT+TM, with 4, 8, 16 and 28 workers.
constexpr const char *k_thesis[] = {".999 / 1.00 / 1.00 / 1.00", ".735 / .890 / .991 / .995",
                                    ".977 / .968 / .996 / .920", ".989 / .846 / .994 / .925",
                                    ".840 / .692 / .979 / .984", ".943 / .956 / .980 / .977"};

std::string shown(double value, int digits) {
  if (std::isnan(value))
    return "-";
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// Holds what one range has: a value per run.
struct column {
  std::vector<double> time, management, wait, both, all, idle, accesses;
  std::map<long, bool> sizes;

  void add(long size, const metrics &m) {
    sizes[size] = true;
    time.push_back(m.time);
    management.push_back(m.management);
    wait.push_back(m.wait_per_core);
    both.push_back(m.management + m.wait_per_core);
    all.push_back(m.management + m.wait_per_core + m.creation);
    idle.push_back(m.idle_rate);
    accesses.push_back(m.accesses);
  }
};

void write_sizes(std::ostream &to, const std::map<long, std::vector<metrics>> &by_size) {
  to << "| points | time, ms | idle rate, % | task, us | overhead, ns | TM, ms | WT, ms | "
        "creation, ms | accesses | misses |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const auto &entry : by_size) {
    const std::vector<metrics> &runs = entry.second;
    const auto of = [&](double metrics::*value) {
      std::vector<double> values;
      for (const metrics &m : runs)
        values.push_back(m.*value);
      return values;
    };
    const auto mean = [&](double metrics::*value, double scale, int digits) {
      return shown(summarize(of(value)).mean / scale, digits);
    };
    const summary time = summarize(of(&metrics::time)),
                  wait = summarize(of(&metrics::wait_per_core));
    to << "| " << entry.first << " | " << shown(time.mean / 1e6, 1) << " ± "
       << shown(time.half / 1e6, 1) << " | "
       << shown(100 * harmonic_mean(of(&metrics::idle_rate)), 1) << " | "
       << mean(&metrics::duration, 1e3, 2) << " | " << mean(&metrics::overhead, 1, 0) << " | "
       << mean(&metrics::management, 1e6, 1) << " | " << shown(wait.mean / 1e6, 1)
       << (std::isnan(wait.mean) ? "" : " ± " + shown(wait.half / 1e6, 1)) << " | "
       << mean(&metrics::creation, 1e6, 1) << " | " << mean(&metrics::accesses, 1, 0) << " | "
       << mean(&metrics::misses, 1, 0) << " |\n";
  }
  to << '\n';
}

int write_ranges(std::ostream &to, const std::vector<column> &columns, bool by_points) {
  to << "| range, " << (by_points ? "points" : "us")
     << " | sizes | TM | WT | WT+TM | WT+TM+creation | idle rate | accesses | WT+TM of the thesis, "
        "4 / 8 / 16 / 28 cores |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";
  int below = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const column &c = columns[i];
    const range &r = all_ranges()[i];
    const bool last = i + 1 == columns.size();
    const double both = correlation(c.both, c.time);
    below += both < 0.9;
    const std::string limit =
        by_points ? std::to_string(last ? all_ranges()[i - 1].most_points : r.most_points)
                  : shown(last ? all_ranges()[i - 1].most_us : r.most_us, 1);
    to << "| " << r.name << (last ? ", above " : ", to ") << limit << " | " << c.sizes.size()
       << " | " << shown(correlation(c.management, c.time), 3) << " | "
       << shown(correlation(c.wait, c.time), 3) << " | " << shown(both, 3) << " | "
       << shown(correlation(c.all, c.time), 3) << " | " << shown(correlation(c.idle, c.time), 3)
       << " | " << shown(correlation(c.accesses, c.time), 3) << " | " << k_thesis[i] << " |\n";
  }
  to << '\n';
  return below;
}

} // namespace

int write_study(std::ostream &to, const std::vector<sample> &all, const subject &of) {
  const std::size_t count = all_ranges().size();
  std::vector<column> by_points(count), by_duration(count);
  std::map<long, std::vector<metrics>> by_size;
  std::map<long, double> references;
  for (const sample &s : all) {
    subject same = s.of;
    same.size = of.size;
    if (!(same == of))
      continue;
    if (!references.contains(s.of.size)) {
      subject alone = s.of;
      alone.workers = 1;
      std::vector<double> durations;
      for (const counts &c : runs_of(all, alone))
        durations.push_back(metrics_of(c, 1, k_none).duration);
      references[s.of.size] = durations.empty() ? k_none : summarize(durations).mean;
    }
    const double reference = references[s.of.size];
    const metrics m = metrics_of(s.is, of.workers, reference);
    by_size[s.of.size].push_back(m);
    if (std::isnan(reference))
      continue;
    by_points[range_of_points(s.of.size)].add(s.of.size, m);
    by_duration[range_of_duration(reference / 1e3)].add(s.of.size, m);
  }
  to << of.workers << (of.workers == 1 ? " worker, " : " workers, ") << of.model << ", "
     << of.points << " points, " << of.steps << " steps:\n\n";
  write_sizes(to, by_size);
  const int below = write_ranges(to, by_points, true);
  write_ranges(to, by_duration, false);
  return below;
}

} // namespace bench::stencil

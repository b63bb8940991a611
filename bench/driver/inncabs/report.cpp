// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "../results.hpp"
#include "inncabs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <set>
#include <stdexcept>

namespace bench::inncabs {

namespace {

std::string shown(double v) {
  if (std::isnan(v))
    return "-";
  char text[32];
  const double size = std::abs(v);
  std::snprintf(text, sizeof text,
                size >= 100  ? "%.0f"
                : size >= 10 ? "%.1f"
                : size >= 1  ? "%.2f"
                             : "%.3f",
                v);
  return text;
}

std::string with_interval(const mean_of &m, double unit) {
  return shown(m.mean / unit) + " ± " + shown(m.half / unit);
}

/// Shows a time. A process that was ended at the limit has fewer samples than asked, and says so.
std::string time_of(const measurement &m) {
  const mean_of found = m.of(&sample::ns);
  return with_interval(found, 1e6) +
         (m.cut_short ? " (ended at the limit, n = " + std::to_string(found.count) + ")" : "");
}

/// Returns a mark for a number that comes from a process that was ended at the limit.
const char *mark(std::initializer_list<const measurement *> sources) {
  const auto is_cut = [](const measurement *m) { return m && m->cut_short; };
  return std::any_of(sources.begin(), sources.end(), is_cut) ? " †" : "";
}

bool any_of(const std::vector<measurement> &all, const std::string &program) {
  return std::any_of(all.begin(), all.end(),
                     [&](const measurement &m) { return m.program == program; });
}

/// Returns the contenders that were measured, without the serial run.
std::vector<contender> columns(const std::vector<measurement> &all) {
  std::vector<contender> found;
  for (const contender &c : all_contenders())
    if (c.name != std::string("serial") &&
        std::any_of(all.begin(), all.end(),
                    [&](const measurement &m) { return m.runtime == c.name; }))
      found.push_back(c);
  return found;
}

void heading(std::ostream &to, const std::vector<std::string> &names) {
  to << '\n';
  for (const std::string &name : names)
    to << "| " << name << ' ';
  to << "|\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    to << "| --- ";
  to << "|\n";
}

/// Returns what a cell says of a process that has no number.
std::string absent(const measurement *m) {
  return !m ? "-" : m->failure.empty() ? "fails" : "fails: " + m->failure;
}

void write_programs(std::ostream &to, const std::vector<measurement> &all) {
  to << "\nThe programs: task duration is the processor time of the serial run over the number of "
        "tasks.\n";
  heading(to, {"program", "structure", "synchronization", "sizes", "tasks", "task duration, us",
               "granularity", "thesis: duration, us", "granularity"});
  for (const program &p : all_programs()) {
    const measurement *serial = find(all, p.name, "serial", 1);
    if (!serial || !serial->measured())
      continue;
    const double tasks = serial->of(&sample::tasks).mean, us = task_ns(all, p.name) / 1e3;
    to << "| " << p.name << " | " << p.structure << " | " << p.synchronization << " | `"
       << serial->sizes << "` | " << static_cast<long>(tasks) << " | " << shown(us)
       << mark({serial}) << " | "
       << granularity(us) << " | " << shown(p.task_us) << " | " << p.granularity << " |\n";
  }
}

void write_times(std::ostream &to, const std::vector<measurement> &all, int workers) {
  to << "\nTime with " << workers << (workers == 1 ? " worker" : " workers")
     << ", ms: mean and interval of 95 %.\n";
  std::vector<std::string> names{"program", "serial"};
  for (const contender &c : columns(all))
    names.push_back(c.name);
  heading(to, names);
  for (const program &p : all_programs()) {
    if (!any_of(all, p.name))
      continue;
    const measurement *serial = find(all, p.name, "serial", 1);
    to << "| " << p.name << " | "
       << (serial && serial->measured() ? time_of(*serial)
                                        : absent(serial))
       << " |";
    for (const contender &c : columns(all)) {
      const measurement *m = find(all, p.name, c.name, workers);
      to << ' ' << (m && m->measured() ? time_of(*m) : absent(m))
         << " |";
    }
    to << '\n';
  }
}

void write_speedups(std::ostream &to, const std::vector<measurement> &all, int workers) {
  to << "\nSpeedup with " << workers
     << " workers over the same runtime with one; in brackets the serial run's time over "
     << workers << " times this one, the part of the ideal speedup.\n";
  std::vector<std::string> names{"program"};
  for (const contender &c : columns(all))
    names.push_back(c.name);
  for (const char *name : {"thesis: std, up to cores", "speedup", "HPX, up to cores", "speedup"})
    names.push_back(name);
  heading(to, names);
  for (const program &p : all_programs()) {
    if (!any_of(all, p.name))
      continue;
    const measurement *serial = find(all, p.name, "serial", 1);
    to << "| " << p.name << " |";
    for (const contender &c : columns(all)) {
      const measurement *one = find(all, p.name, c.name, 1),
                        *m = find(all, p.name, c.name, workers);
      if (!m || !m->measured()) {
        to << ' ' << absent(m) << " |";
        continue;
      }
      const double ns = m->of(&sample::ns).mean;
      to << ' '
         << (one && one->measured() ? shown(one->of(&sample::ns).mean / ns) + mark({m, one}) : "-");
      if (serial && serial->measured())
        to << " (" << shown(serial->of(&sample::ns).mean / (workers * ns)) << mark({m, serial})
           << ')';
      to << " |";
    }
    to << ' ' << p.std_scaling << " | " << p.std_speedup << " | " << p.hpx_scaling << " | "
       << shown(p.hpx_speedup) << " |\n";
  }
}

/// Returns the overhead of very fine tasks in ns, and of others, where that is noise, in percent of
/// the task.
std::string shown_overhead(const std::vector<measurement> &all, const measurement &m) {
  const double ns = overhead_ns(all, m), task = task_ns(all, m.program);
  if (!(task / 1e3 >= k_very_fine_us))
    return shown(ns);
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", ns / task * 100);
  return std::isnan(ns) ? "-" : text;
}

void write_overheads(std::ostream &to, const std::vector<measurement> &all, int workers) {
  to << "\nOverhead with " << workers << (workers == 1 ? " worker" : " workers")
     << ": processor time beside the serial run's, per task: of very fine tasks in ns, of others in "
        "percent of the task. Weft's counters tell the time between tasks, `management`, in ns.\n";
  std::vector<std::string> names{"program", "task duration, us"};
  for (const contender &c : columns(all))
    names.push_back(c.name);
  names.push_back("weft: management");
  heading(to, names);
  for (const program &p : all_programs()) {
    if (!any_of(all, p.name))
      continue;
    const measurement *serial = find(all, p.name, "serial", 1);
    to << "| " << p.name << " | " << shown(task_ns(all, p.name) / 1e3) << mark({serial}) << " |";
    for (const contender &c : columns(all)) {
      const measurement *m = find(all, p.name, c.name, workers);
      to << ' '
         << (m && m->measured() ? shown_overhead(all, *m) + mark({m, serial}) : absent(m))
         << " |";
    }
    const measurement *weft = find(all, p.name, "weft", workers);
    to << ' '
       << (weft && weft->measured() ? shown(weft->of(&sample::management_ns).mean) + mark({weft})
                                    : "-")
       << " |\n";
  }
}

void write_bandwidth(std::ostream &to, const std::vector<measurement> &all, int workers) {
  std::set<std::string> reasons;
  bool counted = false;
  for (const measurement &m : all)
    if (m.offcore == "counted")
      counted = true;
    else if (!m.offcore.empty())
      reasons.insert(m.offcore);
  if (!counted) {
    to << "\nOff-core bandwidth is absent";
    for (const std::string &reason : reasons)
      to << " (" << reason << ')';
    to << ".\n";
    return;
  }
  to << "\nOff-core bandwidth with " << workers << " workers, GB/s.\n";
  std::vector<std::string> names{"program"};
  for (const contender &c : columns(all))
    names.push_back(c.name);
  heading(to, names);
  for (const program &p : all_programs()) {
    if (!any_of(all, p.name))
      continue;
    to << "| " << p.name << " |";
    for (const contender &c : columns(all)) {
      const measurement *m = find(all, p.name, c.name, workers);
      to << ' '
         << (m && m->measured() ? shown(m->of(&sample::bandwidth).mean) + mark({m}) : absent(m))
         << " |";
    }
    to << '\n';
  }
}

void write_policies(std::ostream &to, const std::vector<measurement> &all) {
  if (std::none_of(all.begin(), all.end(),
                   [](const measurement &m) { return m.launch != "async"; }))
    return;
  to << "\nOther launch policies, ms.\n";
  heading(to, {"program", "runtime", "workers", "policy", "time"});
  for (const program &p : all_programs())
    for (const measurement &m : all)
      if (m.program == p.name && m.launch != "async")
        to << "| " << p.name << " | " << m.runtime << " | " << m.workers << " | " << m.launch
           << " | " << (m.measured() ? time_of(m) : absent(&m))
           << " |\n";
}

} // namespace

const char *granularity(double task_us) {
  return task_us < k_very_fine_us ? "VF" : task_us < 100 ? "F" : task_us < 500 ? "M" : "C";
}

double task_ns(const std::vector<measurement> &all, const std::string &program) {
  const measurement *serial = find(all, program, "serial", 1);
  if (!serial || !serial->measured())
    return sample::k_absent;
  return serial->of(&sample::cpu_ns).mean / serial->of(&sample::tasks).mean;
}

double overhead_ns(const std::vector<measurement> &all, const measurement &m) {
  const measurement *serial = find(all, m.program, "serial", 1);
  if (!serial || !m.measured() || serial->sizes != m.sizes)
    return sample::k_absent;
  // The number of tasks may depend on their order: the serial run's time is taken per task.
  return m.of(&sample::cpu_ns).mean / m.of(&sample::tasks).mean - task_ns(all, m.program);
}

std::vector<int> workers_of(const std::vector<measurement> &all) {
  std::set<int> found;
  for (const measurement &m : all)
    if (m.runtime != "serial")
      found.insert(m.workers);
  return {found.begin(), found.end()};
}

void write_tables(std::ostream &to, const std::vector<measurement> &all) {
  double least = 1e300, most = 0;
  int fewest = 1 << 30, samples = 0;
  for (const measurement &m : all) {
    least = std::min(least, m.load), most = std::max(most, m.load);
    if (!m.measured())
      continue;
    fewest = std::min(fewest, static_cast<int>(m.samples.size()) - 1);
    samples = std::max(samples, static_cast<int>(m.samples.size()) - 1);
  }
  to << cpu_model();
  if (samples)
    to << "; " << (fewest < samples ? std::to_string(fewest) + " to " : "") << samples
       << " samples of each that count; load of the machine " << shown(least) << " to "
       << shown(most);
  to << ".\n";
  write_programs(to, all);
  const std::vector<int> workers = workers_of(all);
  for (const int n : workers)
    write_times(to, all, n);
  for (const int n : workers)
    if (n > 1)
      write_speedups(to, all, n);
  for (const int n : workers)
    write_overheads(to, all, n);
  write_policies(to, all);
  if (!workers.empty())
    write_bandwidth(to, all, workers.back());
  if (std::any_of(all.begin(), all.end(),
                  [](const measurement &m) { return m.cut_short && m.measured(); }))
    to << "\n† from a process that was ended at the limit, with fewer samples.\n";
}

void write_page(const std::string &path, const std::string &text) {
  std::ifstream from(path);
  std::string page{std::istreambuf_iterator<char>(from), {}};
  const std::string begin = "<!-- weft-bench inncabs -->\n", end = "<!-- end -->\n";
  const std::size_t first = page.find(begin), last = page.find(end, first);
  if (!from || first == std::string::npos || last == std::string::npos)
    throw std::runtime_error(
        path + " has no marks '<!-- weft-bench inncabs -->' and '<!-- end -->' to write between");
  page.replace(first + begin.size(), last - first - begin.size(), text);
  std::ofstream file(path);
  file << page;
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

} // namespace bench::inncabs

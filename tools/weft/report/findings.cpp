// SPDX-License-Identifier: Apache-2.0
// The report's summary in words: losses of worker time, the largest first, each with its cause and the numbers that show it.
#include "tools/weft/report/findings.hpp"
#include "tools/weft/report/data.hpp"
#include "tools/weft/support/text.hpp"

#include <algorithm>
#include <cstdio>

namespace weft_tool {
namespace {

constexpr double k_worth_saying = 0.03; // of all worker time

struct finding {
  double share;
  std::string text;
};

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// Returns the type behind most of the idle time.
std::pair<std::string, double> most_behind(const idle_reason &i) {
  std::pair<std::string, double> most{"", 0};
  for (const auto &[name, ns] : i.behind)
    if (ns > most.second)
      most = {name, ns};
  return most;
}

finding idleness(const report_data &d, double all) {
  finding f{d.idle_ns / all, text("%.0f %% of worker time is idle", percent(d.idle_ns, all))};
  if (!d.has_graph || d.idle.ns <= 0) {
    f.text += ".";
    return f;
  }
  const auto [name, ns] = most_behind(d.idle);
  if (d.idle.after > std::max({d.idle.no_ready, d.idle.tail, d.idle.start}))
    f.text += text(
        ": %.0f %% of it after the last task has ended, while the program's own code runs; make tasks of that, too, or call weft::shutdown() "
        "before it.",
        percent(d.idle.after, d.idle.ns));
  else if (d.idle.start > std::max({d.idle.no_ready, d.idle.tail, d.idle.after}))
    f.text += text(": %.0f %% of it before the first task begins; create tasks sooner.",
                   percent(d.idle.start, d.idle.ns));
  else if (name == "main")
    f.text += text(
        ": %.0f %% of it while the program's own code runs and no task does; create tasks sooner, or from tasks.",
        percent(ns, d.idle.ns));
  else if (d.idle.tail > d.idle.no_ready)
    f.text += text(
        ": %.0f %% of it in the tail, after the last task became ready, behind '%s'; start its longest tasks sooner or split them.",
        percent(d.idle.tail, d.idle.ns), name.c_str());
  else
    f.text += text(": %.0f %% of it no task is ready, behind '%s'.",
                   percent(d.idle.no_ready, d.idle.ns), name.c_str());
  return f;
}

} // namespace

std::vector<std::string> findings(const report_data &d) {
  std::vector<finding> found;
  const double all = d.duration_ns * std::max<double>(d.workers, 1);
  if (d.idle_ns / all > k_worth_saying)
    found.push_back(idleness(d, all));
  if (d.overhead_ns / all > k_worth_saying)
    found.push_back(
        {d.overhead_ns / all,
         text(
             "Tasks are small: %s each in the mean, and %s between two, which is %.0f %% of worker time; give each more to do.",
             duration(d.task_ns / std::max<double>(static_cast<double>(d.tasks), 1)).c_str(),
             duration(d.gap_ns).c_str(), percent(d.overhead_ns, all))});
  if (d.away_ns / all > k_worth_saying)
    found.push_back(
        {d.away_ns / all,
         text(
             "The kernel had taken the processor from workers for %.0f %% of their time, in %llu pieces: other programs run there, or there are "
             "more workers than processors.",
             percent(d.away_ns, all), static_cast<unsigned long long>(d.switches))});
  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.share > b.share; });
  std::vector<std::string> sentences;
  for (finding &f : found)
    sentences.push_back(std::move(f.text));
  if (found.empty())
    sentences.push_back(text("Workers were busy: %.0f %% of their time was spent in tasks.",
                             percent(d.task_ns, all)));
  if (d.has_graph && d.bounds.span_ns > 0) {
    const double parallelism = d.bounds.work_ns / d.bounds.span_ns;
    sentences.push_back(
        text("The graph allows a speedup of %.1f: %s of work on a critical path of %s.",
             parallelism, duration(d.bounds.work_ns).c_str(), duration(d.bounds.span_ns).c_str()));
    const type_row *best = nullptr;
    for (const type_row &t : d.types)
      if (!t.gain_is_bound && t.gain_percent >= 0.5 &&
          (!best || t.gain_percent > best->gain_percent))
        best = &t;
    if (best)
      sentences.push_back(
          text("If '%s' took half as long, the critical path would be %.0f %% shorter.",
               best->name.c_str(), best->gain_percent));
  }
  if (d.discarded)
    sentences.push_back(text("%llu of %llu records were discarded: what follows is of the rest.",
                             static_cast<unsigned long long>(d.discarded),
                             static_cast<unsigned long long>(d.discarded + d.records)));
  return sentences;
}

} // namespace weft_tool

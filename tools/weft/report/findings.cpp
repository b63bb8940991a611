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
std::pair<std::string, double> most_behind(const idle_reason &reason) {
  std::pair<std::string, double> most{"", 0};
  for (const auto &[name, ns] : reason.behind)
    if (ns > most.second)
      most = {name, ns};
  return most;
}

finding idleness(const report_data &data, double all) {
  finding f{data.idle_ns / all, text("%.0f %% of worker time is idle", percent(data.idle_ns, all))};
  if (!data.has_graph || data.idle.ns <= 0) {
    f.text += ".";
    return f;
  }
  const auto [name, ns] = most_behind(data.idle);
  if (data.idle.after > std::max({data.idle.no_ready, data.idle.tail, data.idle.start}))
    f.text += text(
        ": %.0f %% of it after the last task has ended, while the program's own code runs; make tasks of that, too, or call weft::shutdown() "
        "before it.",
        percent(data.idle.after, data.idle.ns));
  else if (data.idle.start > std::max({data.idle.no_ready, data.idle.tail, data.idle.after}))
    f.text += text(": %.0f %% of it before the first task begins; create tasks sooner.",
                   percent(data.idle.start, data.idle.ns));
  else if (name == "main")
    f.text += text(
        ": %.0f %% of it while the program's own code runs and no task does; create tasks sooner, or from tasks.",
        percent(ns, data.idle.ns));
  else if (data.idle.tail > data.idle.no_ready)
    f.text += text(
        ": %.0f %% of it in the tail, after the last task became ready, behind '%s'; start its longest tasks sooner or split them.",
        percent(data.idle.tail, data.idle.ns), name.c_str());
  else
    f.text += text(": %.0f %% of it no task is ready, behind '%s'.",
                   percent(data.idle.no_ready, data.idle.ns), name.c_str());
  return f;
}

} // namespace

std::vector<std::string> findings(const report_data &data) {
  std::vector<finding> found;
  const double all = data.duration_ns * std::max<double>(data.workers, 1);
  if (data.idle_ns / all > k_worth_saying)
    found.push_back(idleness(data, all));
  if (data.overhead_ns / all > k_worth_saying)
    found.push_back(
        {data.overhead_ns / all,
         text(
             "Tasks are small: %s each in the mean, and %s between two, which is %.0f %% of worker time; give each more to do.",
             duration(data.task_ns / std::max<double>(static_cast<double>(data.tasks), 1)).c_str(),
             duration(data.gap_ns).c_str(), percent(data.overhead_ns, all))});
  if (data.away_ns / all > k_worth_saying)
    found.push_back(
        {data.away_ns / all,
         text(
             "The kernel had taken the processor from workers for %.0f %% of their time, in %llu pieces: other programs run there, or there are "
             "more workers than processors.",
             percent(data.away_ns, all), static_cast<unsigned long long>(data.switches))});
  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.share > b.share; });
  std::vector<std::string> sentences;
  for (finding &f : found)
    sentences.push_back(std::move(f.text));
  if (found.empty())
    sentences.push_back(text("Workers were busy: %.0f %% of their time was spent in tasks.",
                             percent(data.worker_task_ns, all)));
  if (!data.shares.empty())
    sentences.push_back("The time of the workers by runtime: " + weft::rt::text_of(data.shares) +
                        ".");
  if (data.has_graph && data.bounds.span_ns > 0) {
    const double parallelism = data.bounds.work_ns / data.bounds.span_ns;
    sentences.push_back(text(
        "The graph allows a speedup of %.1f: %s of work on a critical path of %s.", parallelism,
        duration(data.bounds.work_ns).c_str(), duration(data.bounds.span_ns).c_str()));
    const type_row *best = nullptr;
    for (const type_row &t : data.types)
      if (!t.gain_is_bound && t.gain_percent >= 0.5 &&
          (!best || t.gain_percent > best->gain_percent))
        best = &t;
    if (best)
      sentences.push_back(
          text("If '%s' took half as long, the critical path would be %.0f %% shorter.",
               best->name.c_str(), best->gain_percent));
  }
  if (!data.decisions.empty())
    sentences.push_back(
        text("Tuning has decided %zu times; last, after %s: %s.", data.decisions.size(),
             duration(data.decisions.back().after_ns).c_str(), data.decisions.back().what.c_str()));
  if (data.unfinished)
    sentences.push_back(unfinished_text(data.unfinished) + ".");
  if (data.has_graph && data.bounds.not_run)
    sentences.push_back(text("Critical path and predictions leave out %llu tasks, which wait for what the trace does not show.",
                             static_cast<unsigned long long>(data.bounds.not_run)));
  if (data.discarded)
    sentences.push_back(text("%llu of %llu records were discarded: what follows is of the rest.",
                             static_cast<unsigned long long>(data.discarded),
                             static_cast<unsigned long long>(data.discarded + data.records)));
  return sentences;
}

} // namespace weft_tool

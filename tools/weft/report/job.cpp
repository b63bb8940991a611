// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/report/job.hpp"

#include "tools/weft/support/text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace weft_tool {
namespace {

constexpr std::size_t k_most_rows = 20, k_most_bodies = 20'000;

/// Is the time of one thing on the path: bodies of a type at a rank, messages between two, the runtime.
struct share_of_path {
  path_part::kind what = path_part::computing;
  int rank = 0;
  std::string text; // "'stencil' at rank 1"
  std::size_t parts = 0;
  std::int64_t ns = 0;
};

int rank_of(const rank_traces &traces, std::size_t trace) {
  return traces.at(trace).about().place.rank;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string text_of(const rank_traces &traces, const path_part &part) {
  const int rank = rank_of(traces, part.trace);
  if (part.what == path_part::computing)
    return "'" + traces.at(part.trace).type_name(part.type) + "' at rank " + std::to_string(rank);
  if (part.what == path_part::runtime)
    return "the runtime at rank " + std::to_string(rank);
  return "messages from rank " + std::to_string(part.from) + " to rank " + std::to_string(rank);
}

std::vector<share_of_path> shares_of(const rank_traces &traces, const job_path &path) {
  std::map<std::string, share_of_path> by_text;
  for (const path_part &part : path.parts) {
    const std::string text = text_of(traces, part);
    share_of_path &share = by_text[text];
    share.what = part.what;
    share.rank = rank_of(traces, part.trace);
    share.text = text;
    share.ns += part.ns();
    ++share.parts;
  }
  std::vector<share_of_path> all;
  for (auto &[text, share] : by_text)
    all.push_back(std::move(share));
  std::ranges::sort(all, [](const share_of_path &a, const share_of_path &b) {
    return std::tie(b.ns, a.text) < std::tie(a.ns, b.text);
  });
  return all;
}

std::string time_text(std::int64_t ns) { return duration(static_cast<double>(ns)); }

/// Adds the cells of a rank's track to those of a track of the job, which are `width` ns each. The number of a
/// type is its place in `types`.
void add_cells(const std::vector<cell> &from, double begin, double from_width, double width,
               const std::vector<std::uint16_t> &types, std::vector<cell> &to) {
  std::vector<float> most(to.size(), 0.0F);
  for (std::size_t c = 0; c != from.size(); ++c) {
    const cell &one = from[c];
    if (one.tasks == 0 && one.idle == 0 && one.away == 0)
      continue;
    const double low = begin + static_cast<double>(c) * from_width, high = low + from_width;
    for (auto at = static_cast<std::size_t>(std::max(low, 0.0) / width);
         at < to.size() && static_cast<double>(at) * width < high; ++at) {
      const double column = static_cast<double>(at) * width;
      const auto part = static_cast<float>(
          (std::min(high, column + width) - std::max(low, column)) / width);
      to[at].tasks += one.tasks * part;
      to[at].idle += one.idle * part;
      to[at].away += one.away * part;
      if (one.tasks * part > most[at]) {
        most[at] = one.tasks * part;
        to[at].type = one.type < types.size() ? types[one.type] : one.type;
      }
    }
  }
}

} // namespace

std::string no_path_because(rank_traces &traces) {
  for (std::size_t i = 0; i != traces.count(); ++i) {
    const std::string rank = "rank " + std::to_string(rank_of(traces, i));
    if (traces.at(i).about().level < trace_level::graph)
      return "no critical path: the trace of " + rank +
             " does not hold the graph of tasks; write the traces with trace.level=graph";
    if (traces.at(i).discarded() != 0)
      return "no critical path: " + rank +
             " has discarded records; a larger trace.buffer keeps more of them";
  }
  return "";
}

std::vector<std::string> findings_of_path(rank_traces &traces, const job_path &path) {
  if (path.ns() <= 0)
    return {};
  std::int64_t sums[3]{};
  std::size_t messages = 0;
  for (const path_part &part : path.parts) {
    sums[part.what] += part.ns();
    messages += part.what == path_part::message;
  }
  std::vector<std::string> found{
      text("The critical path takes %s: %.0f %% of it is computing, %.0f %% waiting for %zu message%s, and %.0f %% the runtime.",
           time_text(path.ns()).c_str(), percent(sums[path_part::computing], path.ns()),
           percent(sums[path_part::message], path.ns()), messages, messages == 1 ? "" : "s",
           percent(sums[path_part::runtime], path.ns()))};
  const share_of_path most = shares_of(traces, path).front();
  found.push_back(text("Most of the critical path is %s: %.0f %%.", most.text.c_str(),
                       percent(most.ns, path.ns())));
  return found;
}

std::string path_tables(rank_traces &traces, const job_path &path) {
  if (path.ns() <= 0)
    return "";
  std::map<int, std::int64_t[3]> by_rank;
  for (std::size_t i = 0; i != traces.count(); ++i)
    by_rank[rank_of(traces, i)][path_part::computing] += 0;
  for (const path_part &part : path.parts)
    by_rank[rank_of(traces, part.trace)][part.what] += part.ns();
  std::string s =
      "<h2>Critical path</h2><div class=scroll tabindex=0 role=region aria-label=\"critical path by rank\"><table><tr><th>rank<th>on the path<th>share<th>"
      "computing<th>waiting for messages<th>the runtime</tr>";
  for (const auto &[rank, ns] : by_rank) {
    const std::int64_t all = ns[0] + ns[1] + ns[2];
    s += text("<tr><td>%d<td>%s<td>%.1f %%", rank, time_text(all).c_str(), percent(all, path.ns()));
    for (const auto what : {path_part::computing, path_part::message, path_part::runtime})
      s += text("<td>%.1f %%", percent(ns[what], path.ns()));
    s += "</tr>";
  }
  s += "</table></div><div class=scroll tabindex=0 role=region aria-label=\"what is on the critical path\"><table><tr><th>on the path<th>times<th>time<th>"
       "share</tr>";
  const std::vector<share_of_path> shares = shares_of(traces, path);
  for (std::size_t i = 0; i != std::min(shares.size(), k_most_rows); ++i)
    s += "<tr><td>" + html(shares[i].text) +
         text("<td>%zu<td>%s<td>%.1f %%</tr>", shares[i].parts, time_text(shares[i].ns).c_str(),
              percent(shares[i].ns, path.ns()));
  s += "</table></div>";
  if (shares.size() > k_most_rows)
    s += text("<p class=soft>The first %zu of %zu.</p>", k_most_rows, shares.size());
  return s +
         "<p class=soft>The path is that of the run as it was: from the end of the rank that ended last, back to what each body waited for, which is the "
         "one before it on its worker, a task, or a message. A message takes from its send to its arrival, and counts at the rank that waits for it. "
         "The runtime has the rest: until a worker runs what could run.</p>";
}

std::size_t columns_of_job(const rank_traces &traces) {
  std::size_t tracks = 0;
  for (std::size_t i = 0; i != traces.count(); ++i)
    tracks += tracks_of(traces.at(i));
  return columns_of(tracks);
}

rank_tracks take_tracks(report_data &rank, std::size_t columns) {
  rank_tracks kept;
  kept.begin_ns = rank.begin_ns;
  kept.duration_ns = rank.duration_ns;
  kept.names = std::move(rank.track_names);
  for (const type_row &row : rank.types)
    kept.types.emplace_back(row.name, row.exec_ns);
  if (rank.columns <= columns) {
    kept.cells = std::move(rank.tracks);
    return kept;
  }
  for (const std::vector<cell> &track : rank.tracks)
    add_cells(track, 0, rank.duration_ns / static_cast<double>(rank.columns),
              rank.duration_ns / static_cast<double>(columns), {},
              kept.cells.emplace_back(columns));
  rank.tracks = {};
  return kept;
}

namespace {

/// Names all types of the ranks, those with most time first.
std::vector<type_row> types_of(const std::vector<rank_tracks> &ranks) {
  std::map<std::string, double> time;
  for (const rank_tracks &rank : ranks)
    for (const auto &[name, ns] : rank.types)
      time[name] += ns;
  std::vector<type_row> types;
  for (const auto &[name, ns] : time)
    types.emplace_back().name = name;
  std::ranges::sort(types, [&time](const type_row &a, const type_row &b) {
    return std::tuple(-time[a.name], a.name) < std::tuple(-time[b.name], b.name);
  });
  return types;
}

/// Adds the tracks of a rank to those of the job, which began at `first`.
void add_tracks(const trace_reader &reader, const rank_tracks &rank, double begin,
                const std::map<std::string, std::uint16_t> &numbers, report_data &all) {
  std::vector<std::uint16_t> types(k_trace_types, UINT16_MAX);
  for (std::size_t t = 0; t != types.size(); ++t)
    if (const auto found = numbers.find(reader.type_name(static_cast<std::uint16_t>(t)));
        found != numbers.end())
      types[t] = found->second;
  const double width = all.duration_ns / static_cast<double>(all.columns);
  for (std::size_t k = 0; k != rank.cells.size(); ++k) {
    all.track_names.push_back(std::to_string(reader.about().place.rank) + ": " + rank.names[k]);
    all.tracks.emplace_back(all.columns);
    const std::vector<cell> &cells = rank.cells[k];
    add_cells(cells, begin, rank.duration_ns / static_cast<double>(cells.size()), width, types,
              all.tracks.back());
  }
}

/// Adds the bodies of the path, the longest of them where there are many.
void add_path(const rank_traces &traces, const std::vector<rank_tracks> &ranks,
              const job_path &path, const std::vector<std::size_t> &first_track, double first,
              report_data &all) {
  std::vector<const path_part *> bodies;
  for (const path_part &part : path.parts)
    if (part.what == path_part::computing && part.slot < ranks[part.trace].cells.size())
      bodies.push_back(&part);
  if (bodies.size() > k_most_bodies) {
    std::ranges::nth_element(bodies, bodies.begin() + k_most_bodies, std::ranges::greater(),
                             &path_part::ns);
    bodies.resize(k_most_bodies);
    std::ranges::sort(bodies, {}, &path_part::begin);
    all.notes.push_back(text("The timeline shows the longest %zu bodies of the path.",
                             k_most_bodies));
  }
  for (const path_part *part : bodies) {
    if (!all.shown.empty())
      all.arrows.emplace_back(all.shown.size() - 1, all.shown.size());
    all.shown.push_back({first_track[part->trace] + part->slot,
                         traces.at(part->trace).type_name(part->type),
                         static_cast<double>(part->begin) - first, static_cast<double>(part->ns()),
                         static_cast<long>(all.shown.size())});
  }
}

} // namespace

report_data timeline_of(rank_traces &traces, const std::vector<rank_tracks> &ranks,
                        const job_path &path) {
  report_data all;
  double first = 0, last = 1;
  const auto begin_of = [&](std::size_t i) {
    return ranks[i].begin_ns + static_cast<double>(traces.shift(i));
  };
  for (std::size_t i = 0; i != ranks.size(); ++i) {
    const double end = begin_of(i) + ranks[i].duration_ns;
    first = i == 0 ? begin_of(i) : std::min(first, begin_of(i));
    last = i == 0 ? end : std::max(last, end);
  }
  all.duration_ns = std::max(last - first, 1.0);
  all.columns = columns_of_job(traces);
  all.types = types_of(ranks);
  std::map<std::string, std::uint16_t> numbers;
  for (std::size_t t = 0; t != all.types.size(); ++t)
    numbers.emplace(all.types[t].name, static_cast<std::uint16_t>(t));
  std::vector<std::size_t> order(ranks.size()), first_track(ranks.size());
  for (std::size_t i = 0; i != order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, {}, [&traces](std::size_t i) { return rank_of(traces, i); });
  for (const std::size_t i : order) {
    first_track[i] = all.tracks.size();
    add_tracks(traces.at(i), ranks[i], begin_of(i) - first, numbers, all);
  }
  add_path(traces, ranks, path, first_track, first, all);
  return all;
}

} // namespace weft_tool

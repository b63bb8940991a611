// SPDX-License-Identifier: Apache-2.0
// weft report: a trace as one HTML page; weft diff: two traces beside each other.
#include "tools/weft/commands.hpp"
#include "tools/weft/report/data.hpp"
#include "tools/weft/report/job.hpp"
#include "tools/weft/report/messages.hpp"
#include "tools/weft/report/page.hpp"
#include "tools/weft/report/ranks.hpp"
#include "tools/weft/support/output_file.hpp"
#include "tools/weft/support/progress.hpp"
#include "tools/weft/support/text.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>

namespace weft_tool {

using namespace weft::rt;

const char k_report_help[] =
    "usage: weft report [--output FILE] [--progress] FOLDER...\n"
    "\n"
    "Writes one HTML page of a trace, which needs no network: what was lost and why, a timeline, task types, grain, and with a trace of level\n"
    "graph the critical path, the speedup to 256 workers, and what would help. Without --output: FOLDER.html.\n"
    "Of several traces, those of the ranks of a job, it writes a page each, FOLDER.html, and one of all, which tells how even the work is,\n"
    "which rank sent how much to which, and with traces of level graph the critical path from rank to rank. Without --output: what the names of the folders have in common, and .ranks.html.\n"
    "Exit status: 1 when the trace cannot be read.\n";
const char k_diff_help[] =
    "usage: weft diff [--progress] FOLDER FOLDER\n"
    "\n"
    "Two traces beside each other: time, idleness, work and critical path, and each type's tasks and time.\n"
    "Exit status: 1 when one of them cannot be read.\n";

namespace {

std::string base64(const std::vector<unsigned char> &bytes) {
  static constexpr char k_digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() * 4 / 3 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned b1 = i + 1 < bytes.size() ? bytes[i + 1] : 0u,
                   b2 = i + 2 < bytes.size() ? bytes[i + 2] : 0u;
    const unsigned v = static_cast<unsigned>(bytes[i]) << 16 | b1 << 8 | b2;
    out += {k_digits[v >> 18], k_digits[v >> 12 & 63],
            i + 1 < bytes.size() ? k_digits[v >> 6 & 63] : '=',
            i + 2 < bytes.size() ? k_digits[v & 63] : '='};
  }
  return out;
}

/// Encodes a track with four bytes per column: number of the type, and parts of 255. `name_of` names the
/// types of cells.
template <class NameOf>
std::string track_text(const NameOf &name_of, const report_data &data,
                       const std::vector<cell> &track) {
  std::vector<unsigned char> bytes;
  std::map<std::uint16_t, unsigned char> numbers;
  const auto share = [](float f) {
    return static_cast<unsigned char>(std::min(f, 1.0f) * 255 + 0.5f);
  };
  for (const cell &c : track) {
    const auto [at, is_new] = numbers.try_emplace(c.type, 255);
    if (is_new)
      for (std::size_t t = 0; t < std::min<std::size_t>(data.types.size(), 255); ++t)
        if (data.types[t].name == name_of(c.type))
          at->second = static_cast<unsigned char>(t);
    bytes.insert(bytes.end(), {at->second, share(c.tasks), share(c.idle), share(c.away)});
  }
  return base64(bytes);
}

template <class List>
std::string numbers(const List &list) {
  std::string s = "[";
  for (const double v : list)
    s += text("%s%.6g", s.size() > 1 ? "," : "", v);
  return s + "]";
}

std::string script_text(const std::string &plain) {
  std::string text = escaped(plain);
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.insert(at + 1, "\\");
  return '"' + text + '"';
}

template <class List, class Text>
std::string listed(const List &list, Text text_of) {
  std::string s = "[";
  for (const auto &each : list)
    s += (s.size() > 1 ? "," : "") + text_of(each);
  return s + "]";
}

std::string tasks_data(const report_data &data) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t t = 0; t < data.types.size(); ++t)
    numbers.emplace(data.types[t].name, t);
  return listed(data.shown, [&](const shown_task &task) {
    const auto known = numbers.find(task.type);
    return text("%zu,%zd,%.0f,%.0f,%ld", task.track,
                known == numbers.end() ? static_cast<std::ptrdiff_t>(-1)
                                       : static_cast<std::ptrdiff_t>(known->second),
                task.begin_ns, task.ns, task.on_path);
  });
}

template <class NameOf>
std::string script_data(const NameOf &name_of, const report_data &data) {
  std::string s = "<script>const D={" +
                  text("ns:%.0f,columns:%zu,gap:%.1f", data.duration_ns, data.columns, data.gap_ns);
  s += ",types:" + listed(data.types, [](const type_row &t) { return script_text(t.name); });
  s += ",names:" + listed(data.track_names, script_text);
  s += ",tracks:" + listed(data.tracks, [&](const auto &track) {
         return '"' + track_text(name_of, data, track) + '"';
       });
  s += ",tasks:" + tasks_data(data) + ",edges:" + listed(data.arrows, [](const auto &a) {
         return text("[%zu,%zu]", a.first, a.second);
       });
  s += ",grains:" + numbers(data.grains) +
       ",live:" + (data.has_creations ? numbers(data.live) : "[]") +
       ",ready:" + (data.has_graph ? numbers(data.ready) : "[]") +
       ",running:" + numbers(data.running);
  if (data.has_graph)
    s +=
        text(",graph:{work:%.0f,span:%.0f,predicted:", data.bounds.work_ns,
             std::max(data.bounds.span_ns, 1.0)) +
        listed(data.predicted, [](const auto &p) { return text("[%u,%.0f]", p.first, p.second); }) +
        "}";
  return s + "};</script>\n";
}

std::string tile(const std::string &value, const char *name) {
  return "<div class=tile><b>" + value + "</b><span>" + name + "</span></div>";
}

/// Returns a link with the last parts of the path, which are enough to recognize the file.
std::string source_link(const std::string &place) {
  const auto colon = place.rfind(':'), slash = place.rfind('/');
  if (colon == std::string::npos || slash == std::string::npos)
    return place.empty() ? "-" : html(place);
  return "<a href=\"file://" + html(place.substr(0, colon)) + "#L" + html(place.substr(colon + 1)) +
         "\" title=\"" + html(place) + "\">" + html(place.substr(slash + 1)) + "</a>";
}

std::string type_table(const report_data &data) {
  std::string s =
      "<h2>Task types</h2><div class=scroll tabindex=0 role=region aria-label=\"task types\"><table id=types><tr><th>type<th>spawned at<th>tasks<th>time<th>share<th>mean<th>longest";
  if (data.has_graph)
    s += "<th>on the critical path<th>path if twice as fast";
  s += "</tr>";
  for (std::size_t i = 0; i < std::min<std::size_t>(data.types.size(), 40); ++i) {
    const type_row &t = data.types[i];
    s += "<tr data-name=\"" + html(t.name) + text("\"><td><span class=sw data-i=%zu></span>", i) +
         html(t.name) + "<td>" + source_link(t.spawn_site) +
         text("<td>%llu<td>%s<td>%.1f %%<td>%s<td>%s", wide(t.tasks), duration(t.exec_ns).c_str(),
              100 * t.exec_ns / std::max(data.task_ns, 1.0),
              duration(t.exec_ns / std::max<double>(static_cast<double>(t.tasks), 1)).c_str(),
              duration(t.longest_ns).c_str());
    if (data.has_graph)
      s += "<td>" + duration(t.on_path_ns) + "<td>" +
           (t.gain_percent < 0
                ? std::string("-")
                : text(t.gain_is_bound ? "at most %.0f %% shorter" : "%.0f %% shorter",
                       t.gain_percent));
    s += "</tr>";
  }
  s += "</table></div>";
  if (data.has_graph)
    s +=
        "<p class=soft>Of the critical path of " + duration(data.bounds.span_ns) + ", " +
        duration(data.own_on_path_ns) +
        " are the program's own code: what it does before, between and after the creation of tasks.</p>";
  return s;
}

std::string what_if_table(const report_data &data) {
  if (!data.has_graph)
    return "";
  const auto predicted = [&data](unsigned n) {
    double best = 0;
    for (const auto &[workers, ns] : data.predicted)
      if (workers <= n)
        best = ns;
    return best;
  };
  const double now = predicted(std::max(data.workers, 1u));
  const auto row = [now](const std::string &what, double ns) {
    return "<tr><td>" + what + "<td>" + duration(ns) +
           text("<td>%+.1f %%</tr>", now > 0 ? 100 * (ns / now - 1) : 0);
  };
  std::string s =
      "<h2>What if</h2><div class=scroll tabindex=0 role=region aria-label=\"what if\"><table><tr><th>the same graph<th>time<th>against the prediction for this run</tr>";
  s += row(
      text("%u workers, as recorded (measured: %s)", data.workers, duration(data.graph_ns).c_str()),
      now);
  s += row("no overhead between tasks", data.no_overhead_ns);
  for (const auto &[name, ns] : data.faster)
    s += row("'" + html(name) + "' twice as fast", ns);
  s += row("twice the workers", predicted(2 * std::max(data.workers, 1u)));
  s += row("256 workers", predicted(256));
  s += row("the critical path alone", data.bounds.span_ns);
  s += row("the critical path with the overhead of each task on it", data.bounds.burdened_ns);
  return s + "</table></div>";
}

std::string graph_tiles(const report_data &data) {
  if (!data.has_graph)
    return "";
  return tile(duration(data.bounds.work_ns), "work: all bodies") +
         tile(duration(data.bounds.span_ns), "span: the critical path") +
         tile(duration(data.bounds.burdened_ns), "burdened span: with overheads") +
         tile(data.bounds.span_ns > 0 ? text("%.1f", data.bounds.work_ns / data.bounds.span_ns)
                                      : "-",
              "parallelism: work / span");
}

/// Returns the runtimes for which the workers computed; empty where only Weft's own tasks ran.
std::string share_table(const report_data &data) {
  if (data.shares.empty())
    return "";
  double all = 0;
  for (const time_share &s : data.shares)
    all += static_cast<double>(s.ns);
  std::string s =
      "<h2>Runtimes</h2><div class=scroll tabindex=0 role=region aria-label=\"runtimes\"><table><tr><th>what the workers did<th>time<th>share</tr>";
  for (const time_share &part : data.shares)
    if (part.ns != 0)
      s += "<tr><td>" + html(part.name) + "<td>" + duration(static_cast<double>(part.ns)) +
           text("<td>%.1f %%</tr>", 100 * static_cast<double>(part.ns) / all);
  return s +
         "</table></div><p class=soft>Of all workers, over the whole run, by samples. A lightweight thread of a runtime is no task: the timeline "
         "shows tasks only.</p>";
}

/// Returns what a coroutine has waited for, "mutex (12), end of load (3)": the most frequent first.
std::string awaited_list(const coroutine_row &row) {
  constexpr std::size_t k_most = 4;
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (const auto &[what, waits] : row.awaited)
    all.emplace_back(waits, what);
  std::sort(all.begin(), all.end(), [](auto &a, auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::string s;
  for (std::size_t i = 0; i < std::min(all.size(), k_most); ++i)
    s += (s.empty() ? "" : ", ") + all[i].second + text(" (%llu)", wide(all[i].first));
  return all.size() > k_most ? s + ", ..." : s;
}

/// Returns which coroutines have waited; empty where none has.
std::string coroutine_table(const report_data &data) {
  constexpr std::size_t k_most = 64;
  if (data.coroutines.empty())
    return "";
  std::string s =
      "<h2>Coroutines</h2><div class=scroll tabindex=0 role=region aria-label=\"coroutines that have waited\"><table><tr><th>coroutine<th>waits<th>for<th>waited<th>longest<th>ran</tr>";
  for (std::size_t i = 0; i < std::min(data.coroutines.size(), k_most); ++i) {
    const coroutine_row &row = data.coroutines[i];
    s += "<tr><td>" + html(row.name) + text("<td>%llu", wide(row.waits)) + "<td>" +
         html(awaited_list(row)) + "<td>" + duration(row.waited_ns) + "<td>" +
         duration(row.longest_ns) + "<td>" + duration(row.ran_ns) + "</tr>";
  }
  s += "</table></div>";
  if (data.coroutines.size() > k_most)
    s += text("<p class=soft>The first %zu of %zu.</p>", k_most, data.coroutines.size());
  return s +
         "<p class=soft>A wait is that of the innermost of the coroutines that await each other, and lasts until its task runs "
         "again. How long the task ran then, to the next wait or the end, is in the last column, with its first run.</p>";
}

/// Returns what sessions and policies have decided, the newest last; empty where nothing was.
std::string decision_table(const report_data &data) {
  constexpr std::size_t k_most = 64; // as weft::tune::decisions()
  if (data.decisions.empty())
    return "";
  std::string s =
      "<h2>Tuning</h2><div class=scroll tabindex=0 role=region aria-label=\"decisions of tuning\"><table><tr><th>after<th>decision<th>cost of the last trial</tr>";
  const std::size_t all = data.decisions.size();
  for (std::size_t i = all > k_most ? all - k_most : 0; i < all; ++i) {
    const tuning_decision &made = data.decisions[i];
    s += "<tr><td>" + duration(made.after_ns) + "<td>" + html(made.what) +
         (made.of_default > 0 ? text("<td>%.1f %% of the default's</tr>", 100 * made.of_default)
                              : "<td></tr>");
  }
  s += "</table></div>";
  if (all > k_most)
    s += text("<p class=soft>The newest %zu of %zu decisions.</p>", k_most, all);
  return s;
}

/// Returns the values that no others beat in all costs, as each session said last of them; empty where
/// no session has several objectives.
std::string compromise_table(const report_data &data) {
  constexpr std::string_view k_says = ": not beaten in all costs: "; // session.cpp; session_test.cpp pins it
  std::vector<std::pair<std::string, std::string>> last; // of each session
  for (const tuning_decision &made : data.decisions) {
    const auto at = made.what.find(k_says);
    if (at == std::string::npos)
      continue;
    const std::string who = made.what.substr(0, at);
    std::erase_if(last, [&](const auto &one) { return one.first == who; });
    last.emplace_back(who, made.what.substr(at + k_says.size()));
  }
  if (last.empty())
    return "";
  std::string s =
      "<h2>Several objectives</h2><div class=scroll tabindex=0 role=region aria-label=\"values that no others beat\"><table><tr><th>session<th>values<th>costs</tr>";
  for (const auto &[who, points] : last)
    for (std::size_t from = 0; from < points.size();) {
      const std::size_t end = std::min(points.find("; ", from), points.size());
      const std::string point = points.substr(from, end - from); // "tile=8 (time 1.00x, /app/misses 0.50x)"
      const std::size_t bracket = point.find(" (");
      std::string costs = bracket == std::string::npos ? "" : point.substr(bracket + 2);
      if (costs.ends_with(')'))
        costs.pop_back();
      s += "<tr><td>" + html(who) + "<td>" + html(point.substr(0, bracket)) + "<td>" + html(costs) + "</tr>";
      from = end + 2;
    }
  return s +
         "</table></div><p class=soft>Values that no others beat in all costs, when the last search of each session ended. A cost is a part of "
         "what the values cost with which that search began.</p>";
}

std::string timeline_part(bool has_path) {
  std::string s =
      "<h2>Timeline</h2><div class=bar><input type=search id=search placeholder=\"search types\" aria-label=\"search task types\">"
      "<button id=every>all types</button>";
  if (has_path)
    s += "<label><input type=checkbox id=path checked> critical path</label>";
  return s +
         "</div><div id=legend role=group aria-label=\"task types: press one to see it alone\"></div>"
         "<canvas id=time tabindex=0 role=img aria-label=\"Timeline: what each worker did. Keys: arrows move, + and - zoom, 0 shows all, ] and [ choose "
         "the next and the previous task, Escape none\"></canvas><p id=where class=soft aria-live=polite></p>"
         "<p class=soft>Wheel or + and -: zoom. Drag or arrow keys: move. Double click or 0: all. Click, or ] and [: choose a task and see what it "
         "waited for and what waited for it. The height of a colour is the share of the time in tasks, its hue the type that had most of it; grey is "
         "idleness, red from above the time off the processor.</p>";
}

/// Returns the timeline of all ranks, and what draws it.
std::string timeline_of_job(const report_data &all) {
  std::string s = timeline_part(!all.shown.empty());
  for (const std::string &note : all.notes)
    s += "<p class=soft>" + html(note) + "</p>";
  const auto name_of = [&all](std::uint16_t type) {
    return type < all.types.size() ? all.types[type].name : std::string();
  };
  return s + script_data(name_of, all) + "<script>\n" + k_page_script + "</script>";
}

std::string page(const trace_reader &reader, const report_data &data,
                 const std::vector<rank_pair> &pairs) {
  const double all = data.duration_ns * std::max<double>(data.workers, 1);
  std::string s = k_page_head;
  s += "<title>" + html(data.program) + " - Weft</title></head><body><main><h1>" +
       html(data.program) + "</h1><p class=soft>" +
       text("%u workers, %llu tasks, %llu records", data.workers, wide(data.tasks),
            wide(data.records)) +
       "</p><dl class=run>";
  for (const auto &[what, value] : data.about)
    s += "<dt>" + what + "<dd>" + html(value);
  s += "</dl><ul class=findings>";
  for (const std::string &f : data.sentences)
    s += "<li>" + html(f) + "</li>";
  s += "</ul>";
  for (const std::string &w : data.warnings)
    s += "<p class=warn role=note>" + html(w) + "</p>";
  s += "<div class=tiles>" + tile(duration(data.duration_ns), "from first to last record") +
       tile(text("%.0f %%", 100 * data.worker_task_ns / all), "of worker time in tasks") +
       tile(text("%.0f %%", 100 * data.idle_ns / all), "idle") +
       tile(duration(data.task_ns / std::max<double>(static_cast<double>(data.tasks), 1)),
            "mean task") +
       tile(data.has_graph ? text("%llu", wide(data.stolen)) : "-",
            data.has_graph ? "tasks that another worker took" : "steals: not recorded") +
       tile(text("%llu", wide(data.discarded)), "records discarded") +
       tile(data.switches ? text("%.1f %%", 100 * data.away_ns / all) : "-",
            data.switches ? "kernel noise: off the processor" : "kernel noise: not recorded") +
       graph_tiles(data) + "</div>" + share_table(data);
  for (const std::string &n : data.notes)
    s += "<p class=soft>" + html(n) + "</p>";
  s += timeline_part(data.has_graph);
  s += "<p class=soft>The charts below show the same time.</p>";
  s +=
      std::string("<h2>Tasks over time</h2>") +
      (data.has_creations
           ? "<canvas id=tasks tabindex=0 role=img aria-label=\"Tasks in the graph, and ready ones, over time\"></canvas>"
           : "") +
      "<canvas id=busy tabindex=0 role=img aria-label=\"Workers in tasks over time\"></canvas>";
  s += type_table(data);
  s += coroutine_table(data);
  s +=
      "<h2>Grain</h2><div class=pair><canvas id=grain role=img aria-label=\"Tasks by how long they ran\"></canvas>";
  s +=
      data.has_graph
          ? "<canvas id=law role=img aria-label=\"Efficiency by how long tasks run\"></canvas></div><h2>Speedup</h2><canvas id=speed role=img "
            "aria-label=\"Predicted speedup by workers\"></canvas>"
          : "</div>";
  s += what_if_table(data);
  s += decision_table(data);
  s += compromise_table(data);
  s += message_table(pairs);
  const auto name_of = [&reader](std::uint16_t type) { return reader.type_name(type); };
  return s + "</main>" + script_data(name_of, data) + "<script>\n" + k_page_script +
         "</script></body></html>\n";
}

std::string change(double a, double b) { return a > 0 ? text("%+.1f%%", 100 * (b / a - 1)) : "-"; }

} // namespace

int write_report(const std::string &folder, const std::string &output,
                 std::optional<output_file> &out) {
  rank_traces alone({folder});
  trace_reader &r = alone.at(0);
  report_data d = analyse(r);
  const std::vector<rank_pair> pairs = pairs_of(alone.read_messages());
  if (!pairs.empty())
    d.sentences.push_back(sentence_of(pairs));
  if (!out)
    out.emplace(output);
  out->put(page(r, d, pairs));
  out->finish();
  end_progress();
  for (const std::string &s : d.sentences)
    std::printf("%s\n", s.c_str());
  std::printf("the report is in %s\n", output.c_str());
  return k_ok;
}

int write_report_of_ranks(const words &folders, const std::string &output) {
  rank_traces traces(folders);
  const std::vector<message_mark> messages = traces.read_messages();
  const std::vector<rank_pair> pairs = pairs_of(messages);
  std::vector<rank_row> ranks;
  std::vector<rank_tracks> all; // of a rank's report no more stays
  const std::size_t columns = columns_of_job(traces);
  for (std::size_t i = 0; i != traces.count(); ++i) {
    trace_reader &r = traces.at(i);
    report_data d = analyse(r);
    const std::string own_page = folders[i] + ".html";
    if (own_page == output)
      return usage_error("'" + output + "' is the page of one rank; give --output another name");
    output_file out(own_page);
    std::vector<rank_pair> sent; // by this rank
    std::ranges::copy_if(pairs, std::back_inserter(sent), [&r](const rank_pair &one) {
      return one.from == r.about().place.rank;
    });
    out.put(page(r, d, sent));
    out.finish();
    const std::filesystem::path link =
        absolute(std::filesystem::path(own_page))
            .lexically_relative(absolute(std::filesystem::path(output)).parent_path());
    ranks.push_back({traces.name_of(i), r.about().place.rank, link.string(), d.workers, d.tasks,
                     d.duration_ns, d.task_ns, d.worker_task_ns, d.idle_ns});
    all.push_back(take_tracks(d, columns));
  }
  std::ranges::sort(ranks, {}, &rank_row::rank);
  std::vector<std::string> findings = findings_of_ranks(ranks);
  std::vector<std::string> doubts = traces.doubts();
  job_path path;
  if (const std::string missing = no_path_because(traces); missing.empty())
    path = find_job_path(traces, messages);
  else
    doubts.push_back(missing);
  std::ranges::copy(findings_of_path(traces, path), std::back_inserter(findings));
  if (!pairs.empty())
    findings.push_back(sentence_of(pairs));
  output_file out(output);
  out.put(page_of_ranks(ranks, pairs, findings, doubts,
                        timeline_of_job(timeline_of(traces, all, path)) +
                            path_tables(traces, path)));
  out.finish();
  end_progress();
  for (const std::string &s : findings)
    std::printf("%s\n", s.c_str());
  for (const std::string &s : doubts)
    std::printf("note: %s\n", s.c_str());
  std::printf("the report is in %s, and that of each rank in its FOLDER.html\n", output.c_str());
  return k_ok;
}

int run_report(const words &given) {
  words arguments = given;
  begin_long_command(take_progress(arguments));
  std::string output;
  words folders;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if ((arguments[at] == "--output" || arguments[at] == "-o") && at + 1 < arguments.size())
      output = arguments[++at];
    else if (arguments[at].starts_with("-"))
      return usage_error("report does not know '" + arguments[at] + "'");
    else
      folders.push_back(arguments[at]);
  }
  if (folders.empty())
    return usage_error("report needs the folder of a trace");
  for (std::string &folder : folders)
    while (folder.size() > 1 && folder.back() == '/')
      folder.pop_back();
  if (folders.size() != 1)
    return write_report_of_ranks(folders, output.empty() ? name_of_page(folders) : output);
  std::optional<output_file> out;
  return write_report(folders[0], output.empty() ? folders[0] + ".html" : output, out);
}

int run_diff(const words &given) {
  words arguments = given;
  begin_long_command(take_progress(arguments));
  if (arguments.size() != 2 || arguments[0].starts_with("-") || arguments[1].starts_with("-"))
    return usage_error("diff needs the folders of two traces");
  trace_reader first(arguments[0]), second(arguments[1]);
  const report_data a = analyse(first), b = analyse(second);
  end_progress();
  std::printf("%-40s %14s %14s %9s\n", "", "first", "second", "change");
  const auto row = [](const std::string &name, double one, double other) {
    std::printf("%-40.40s %14s %14s %9s\n", name.c_str(), duration(one).c_str(),
                duration(other).c_str(), change(one, other).c_str());
  };
  row("duration", a.duration_ns, b.duration_ns);
  row("in tasks, all workers", a.task_ns, b.task_ns);
  row("idle, all workers", a.idle_ns, b.idle_ns);
  row("between two tasks", a.gap_ns, b.gap_ns);
  if (a.has_graph && b.has_graph)
    row("critical path", a.bounds.span_ns, b.bounds.span_ns);
  std::map<std::string, std::pair<type_row, type_row>> types;
  for (const type_row &t : a.types)
    types[t.name].first = t;
  for (const type_row &t : b.types)
    types[t.name].second = t;
  std::printf("\n%-40s %10s %10s %12s %12s %9s\n", "type", "tasks", "tasks", "mean", "mean",
              "time");
  for (const auto &[name, pair] : types) {
    const auto mean = [](const type_row &t) {
      return t.tasks ? duration(t.exec_ns / static_cast<double>(t.tasks)) : "-";
    };
    std::printf("%-40.40s %10llu %10llu %12s %12s %9s\n", name.c_str(), wide(pair.first.tasks),
                wide(pair.second.tasks), mean(pair.first).c_str(), mean(pair.second).c_str(),
                (pair.first.tasks == 0    ? std::string("new")
                 : pair.second.tasks == 0 ? std::string("gone")
                                          : change(pair.first.exec_ns, pair.second.exec_ns))
                    .c_str());
  }
  return k_ok;
}

} // namespace weft_tool

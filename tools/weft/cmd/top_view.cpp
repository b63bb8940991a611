// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/cmd/top_view.hpp"

#include "tools/weft/support/idle_reason.hpp"

#include "base/visible.hpp"
#include "observe/format.hpp"
#include "observe/shares.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft_tool {

using namespace weft::rt;

namespace {

/// Holds a reading and what computes its values.
class look {
 public:
  explicit look(const reading &of) : numbers(of), m_values(of) {}
  const reading &numbers;

  double value(const char *name) { return m_values.value(parse_counter_name(name)); }
  /// Returns the value of each slot, in their order; NaN where the program counts it for the whole
  /// process only.
  std::vector<double> of_slots(const char *name) {
    counter_name each = parse_counter_name(name);
    each.instance = counter_name::of::every_worker;
    const row found = m_values.rows(each).front();
    std::vector<double> values(numbers.slots.size(), std::nan(""));
    for (std::size_t i = 0; i < found.workers.size(); ++i)
      values[i] = found.workers[i].number;
    return values;
  }
  std::vector<row> all() { return m_values.rows(parse_counter_name("*")); }

 private:
  calculator m_values;
};

const char *word_of(block_kind kind) {
  return kind == block_kind::worker ? "worker" : kind == block_kind::spare ? "spare" : "thread";
}
/// Returns the state of a slot. `blocked`: its task sleeps in the kernel.
const char *state_of(const reading::slot &slot, const std::set<unsigned> &asleep) {
  return !slot.present              ? "outside"
         : slot.idle                ? "idle"
         : asleep.contains(slot.id) ? "blocked"
                                    : "busy";
}

/// Returns "1.2k", "3.4M", and "-" for NaN.
std::string short_number(double value) {
  if (std::isnan(value))
    return "-";
  const char *unit = "";
  for (const char *next : {"k", "M", "G", "T"})
    if (std::fabs(value) >= 10'000) {
      value /= 1000;
      unit = next;
    }
  char text[32];
  std::snprintf(text, sizeof text,
                std::fabs(value) < 100 && value != std::floor(value) ? "%.1f%s" : "%.0f%s", value,
                unit);
  return text;
}

std::string short_time(double ns) {
  if (std::isnan(ns))
    return "-";
  const char *unit = "ns";
  for (const char *next : {"us", "ms", "s"})
    if (ns >= 1000) {
      ns /= 1000;
      unit = next;
    }
  char text[32];
  std::snprintf(text, sizeof text, ns < 100 ? "%.1f %s" : "%.0f %s", ns, unit);
  return text;
}

std::string bar(double share, int width) {
  const int full =
      std::isnan(share) ? 0 : static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  std::string out;
  for (int i = 0; i < width; ++i)
    out += i < full ? "#" : ".";
  return out;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Holds the numbers of a type of tasks in an interval.
struct type_line {
  std::string name;
  double tasks, mean_ns, ns; // ns: of all of them
};

/// Returns the types, the most expensive first. Their times are estimated from the timed tasks.
std::vector<type_line> type_lines(const reading &spent) {
  std::vector<type_line> all;
  for (const reading::type &t : spent.types) {
    if (t.tasks == 0)
      continue;
    const double tasks = static_cast<double>(t.tasks),
                 mean = t.timed ? static_cast<double>(t.ns) / static_cast<double>(t.timed)
                                : std::nan("");
    all.push_back({t.name, tasks, mean, t.timed ? mean * tasks : 0});
  }
  std::sort(all.begin(), all.end(),
            [](auto &a, auto &b) { return std::pair(a.ns, a.tasks) > std::pair(b.ns, b.tasks); });
  return all;
}

double time_of(const std::vector<type_line> &types) {
  double sum = 0;
  for (const type_line &t : types)
    sum += t.ns;
  return sum;
}

/// Returns the line about managers; empty where workers enter tasks into the graph themselves.
std::string manager_line(look &now, look &spent) {
  if (!(now.value("/managers/count/sent") > 0))
    return "";
  return "manage  " + short_number(spent.value("/managers/count/sent")) + " messages sent, " +
         short_number(spent.value("/managers/count/applied")) + " applied by workers; " +
         short_number(now.value("/managers/queue/length")) + " wait, of them " +
         short_number(now.value("/managers/queue/new")) +
         " of tasks that are to enter the graph\n";
}

/// Returns the line about runtimes; empty where only Weft's own tasks have run.
std::string share_line(const reading &now, const reading &spent) {
  const std::string text = text_of(shares_of(now, spent));
  return text.empty() ? text : "shares  " + text + "\n";
}

std::string summary(look &at, look &spent) {
  const reading &now = at.numbers;
  const double all = spent.value("/threads/time/overall"),
               exec = spent.value("/threads/time/cumulative"),
               management = spent.value("/threads/time/management"),
               idle = spent.value("/threads/time/idle");
  char text[1024];
  std::snprintf(text, sizeof text,
                "%s (pid %u)   up %.1f s   %u workers of %u cpus   %s\n\n"
                "tasks   %s run, %s per second; in the graph %s, of them ready %s\n"
                "time    %4.1f %% tasks [%s]   %4.1f %% between tasks   %4.1f %% idle\n"
                "task    mean %s, half below %s, 99 %% below %s; %s of management each\n"
                "moves   %s stolen, %s suspensions, %s sleeps, %s fruitless looks\n"
                "memory  %s resident, %s in tasks\n",
                visible(now.program).c_str(), now.pid,
                static_cast<double>(now.taken_ns - now.started_ns) * 1e-9, now.workers, now.cpus,
                now.ended   ? "ENDED"
                : now.alive ? ""
                            : "KILLED",
                short_number(at.value("/threads/count/cumulative")).c_str(),
                short_number(spent.value("/threads/rate")).c_str(),
                short_number(at.value("/threads/count/instantaneous/all")).c_str(),
                short_number(at.value("/threads/count/instantaneous/pending")).c_str(),
                100 * share(exec, all), bar(share(exec, all), 30).c_str(),
                100 * share(management, all), 100 * share(idle, all),
                short_time(spent.value("/threads/time/average")).c_str(),
                short_time(spent.value("/threads/time/duration-p50")).c_str(),
                short_time(spent.value("/threads/time/duration-p99")).c_str(),
                short_time(spent.value("/threads/time/average-management")).c_str(),
                short_number(spent.value("/threads/count/stolen")).c_str(),
                short_number(spent.value("/threads/count/suspended")).c_str(),
                short_number(spent.value("/threads/count/sleeps")).c_str(),
                short_number(spent.value("/threads/count/pending-misses")).c_str(),
                short_number(at.value("/memory/resident")).c_str(),
                short_number(at.value("/memory/tasks")).c_str());
  const std::string reason = now.alive && !now.ended ? why_idle(now, spent.numbers).text : "";
  return text + (reason.empty() ? reason : "idle    " + reason + "\n") + share_line(now, spent.numbers) +
         manager_line(at, spent);
}

std::string worker_lines(look &now, look &spent, const std::set<unsigned> &asleep,
                         std::size_t most) {
  std::string out =
      "\n  id  kind    state     tasks/s     mean   busy                  queue   steals  sleeps\n";
  const double seconds = static_cast<double>(spent.numbers.span_ns) * 1e-9;
  const auto overall = spent.of_slots("/threads/time/overall"),
             idle = spent.of_slots("/threads/time/idle"),
             tasks = spent.of_slots("/threads/count/cumulative"),
             mean = spent.of_slots("/threads/time/average"),
             queue = now.of_slots("/threadqueue/length"),
             stolen = spent.of_slots("/threads/count/stolen"),
             sleeps = spent.of_slots("/threads/count/sleeps");
  const std::size_t slots = now.numbers.slots.size();
  for (std::size_t i = 0; i < slots; ++i) {
    if (i == most)
      return out + "  ... " + std::to_string(slots - most) +
             " more; a higher window shows them\n";
    const reading::slot &s = now.numbers.slots[i];
    char line[200];
    std::snprintf(line, sizeof line, "%4u  %-7s %-8s %8s %8s   [%s] %6s %8s %7s\n", s.id,
                  word_of(s.kind), state_of(s, asleep),
                  short_number(tasks[i] / seconds).c_str(),
                  short_time(mean[i]).c_str(),
                  bar(share(overall[i] - idle[i], overall[i]), 18).c_str(),
                  short_number(queue[i]).c_str(), short_number(stolen[i]).c_str(),
                  short_number(sleeps[i]).c_str());
    out += line;
  }
  return out;
}

/// Returns the tasks by duration, in powers of two.
std::vector<double> grains(const reading &spent) {
  const reading::buckets d = spent.all_durations();
  std::vector<double> sums(k_duration_buckets / 4);
  for (unsigned i = 0; i < k_duration_buckets; ++i)
    sums[i / 4] += static_cast<double>(d[i]);
  return sums;
}

std::string histogram(const reading &spent) {
  const auto sums = grains(spent);
  const double most = *std::max_element(sums.begin(), sums.end());
  std::string out = "\ntasks by how long they run\n";
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0)
      continue;
    char line[120];
    std::snprintf(
        line, sizeof line, "  from %8s  %s %s\n",
        short_time(static_cast<double>(bucket_floor(static_cast<unsigned>(4 * i)))).c_str(),
        bar(share(sums[i], most), 40).c_str(), short_number(sums[i]).c_str());
    out += line;
  }
  return most > 0 ? out : "";
}

std::string type_text(const reading &spent, std::size_t most) {
  const auto types = type_lines(spent);
  const double all = time_of(types), seconds = static_cast<double>(spent.span_ns) * 1e-9;
  std::string out =
      spent.exact_time
          ? "\ntask types                                tasks/s     mean   share of time\n"
          : "\ntask types (from samples)                 tasks/s     mean   share of time\n";
  for (std::size_t i = 0; i < std::min(types.size(), most); ++i) {
    char line[200];
    std::snprintf(line, sizeof line, "  %-36.36s %10s %8s   [%s]\n",
                  visible(types[i].name).c_str(),
                  short_number(types[i].tasks / seconds).c_str(),
                  short_time(types[i].mean_ns).c_str(), bar(share(types[i].ns, all), 18).c_str());
    out += line;
  }
  return types.empty() ? "" : out;
}

std::string types_as_json(const reading &spent) {
  std::string out;
  const auto types = type_lines(spent);
  const double all = time_of(types);
  for (const type_line &t : types)
    out += (out.empty() ? "{" : ",{") + std::string("\"name\":") + json_text(t.name) +
           ",\"tasks\":" + json_number(t.tasks) + ",\"mean_ns\":" + json_number(t.mean_ns) +
           ",\"share\":" + json_number(share(t.ns, all)) + "}";
  return out;
}

std::string shares_as_json(const std::vector<time_share> &shares) {
  double all = 0;
  for (const time_share &s : shares)
    all += static_cast<double>(s.ns);
  std::string out;
  for (const time_share &s : shares)
    out += (out.empty() ? "" : ",") + json_text(s.name) + ":" +
           json_number(share(static_cast<double>(s.ns), all));
  return out;
}

std::string workers_as_json(look &spent, const std::set<unsigned> &asleep) {
  constexpr const char *k_names[] = {
      "/threads/count/cumulative", "/threads/time/overall", "/threads/time/idle",
      "/threads/time/management",  "/threads/count/stolen", "/threads/count/sleeps",
      "/threadqueue/length"};
  std::vector<std::vector<double>> values;
  for (const char *name : k_names)
    values.push_back(spent.of_slots(name));
  std::string out;
  for (std::size_t i = 0; i < spent.numbers.slots.size(); ++i) {
    const reading::slot &s = spent.numbers.slots[i];
    out += std::string(out.empty() ? "" : ",") + "{\"id\":" + std::to_string(s.id) +
           ",\"kind\":\"" + word_of(s.kind) + "\",\"state\":\"" + state_of(s, asleep) + "\"";
    for (std::size_t n = 0; n < values.size(); ++n)
      out += "," + json_text(k_names[n]) + ":" + json_number(values[n][i]);
    out += "}";
  }
  return out;
}

} // namespace

std::string top_text(const reading &now, const reading &spent, const std::set<unsigned> &asleep,
                     std::size_t lines) {
  look at(now), grown(spent);
  const std::string before = summary(at, grown), after = type_text(spent, 8) + histogram(spent);
  const auto lines_of = [](const std::string &s) {
    return static_cast<std::size_t>(std::count(s.begin(), s.end(), '\n'));
  };
  const std::size_t taken = lines_of(before) + lines_of(after) +
                            4; // the heading of the workers, and what tells that there are more
  return before + worker_lines(at, grown, asleep, lines > taken ? lines - taken : 1) + after;
}

namespace {

constexpr const char *k_bold = "\033[1m", *k_dim = "\033[2m", *k_green = "\033[32m",
                     *k_yellow = "\033[33m", *k_red = "\033[31m", *k_plain = "\033[0m";

/// Returns the colour of a line in the table of workers.
const char *colour_of_state(std::string_view line) {
  const auto has = [line](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  };
  return has(" blocked") ? k_red : has(" busy ") ? k_green : has(" idle ") ? k_dim : nullptr;
}

bool is_heading(std::string_view line) {
  return line.starts_with("  id  kind") || line.starts_with("task types") ||
         line.starts_with("tasks by how long");
}

/// Colours "[####....]": the full part and the rest.
std::string coloured_bars(std::string_view line, const char *state) {
  std::string out;
  bool within = false;
  char before = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '[' && i + 1 < line.size() && (line[i + 1] == '#' || line[i + 1] == '.')) {
      within = true;
      before = 0;
    } else if (within && c == ']') {
      within = false;
      out += std::string(k_plain) + (state ? state : "");
    } else if (within && c != before) {
      out += std::string(k_plain) + (c == '#' ? k_green : k_dim);
      before = c;
    }
    out += c;
  }
  return out;
}

} // namespace

std::string coloured(const std::string &text) {
  std::string out;
  bool first = true, workers = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    workers = line.starts_with("  id  kind") || (workers && !line.empty());
    const char *const state = workers ? colour_of_state(line) : nullptr;
    const char *const whole = first && (line.ends_with("KILLED") || line.ends_with("ENDED")) ? k_red
                              : first || is_heading(line)    ? k_bold
                              : line.starts_with("idle    ") ? k_yellow
                                                             : state;
    out += whole ? whole : "";
    out += coloured_bars(line, whole);
    out += whole || line.find('[') != std::string_view::npos ? k_plain : "";
    if (end < text.size())
      out += '\n';
    at = end + 1;
    first = false;
  }
  return out;
}

std::string top_json(const reading &now, const reading &spent, const std::set<unsigned> &asleep) {
  look grown(spent);
  std::string out =
      "{\"program\":" + json_text(now.program) + ",\"pid\":" + std::to_string(now.pid) +
      ",\"running\":" + (now.alive && !now.ended ? "true" : "false") +
      ",\"seconds\":" + json_number(static_cast<double>(now.taken_ns - now.started_ns) * 1e-9) +
      ",\"interval\":" + json_number(static_cast<double>(spent.span_ns) * 1e-9) + ",\"values\":{";
  bool first = true;
  for (const auto &r : grown.all()) {
    if (r.about.absent)
      continue;
    out += (first ? "" : ",") + json_text(r.about.name) + ":" + json_number(r.total);
    first = false;
  }
  out += "},\"shares\":{" + shares_as_json(shares_of(now, spent)) + "}";
  out += ",\"types\":[" + types_as_json(spent) + "]";
  out += std::string(",\"idle_reason\":\"") + why_idle(now, spent).word + "\",\"grains\":[";
  const auto sums = grains(spent);
  for (std::size_t i = 0; i < sums.size(); ++i)
    out += (i ? "," : "") + json_number(sums[i]);
  return out + "],\"workers\":[" + workers_as_json(grown, asleep) + "]}\n";
}

} // namespace weft_tool

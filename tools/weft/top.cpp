// SPDX-License-Identifier: Apache-2.0
// weft top: a running program at a glance, again and again.
#include "commands.hpp"
#include "idle_reason.hpp"
#include "programs.hpp"

#include "base/clock.hpp"
#include "observe/format.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <weft/error.hpp>

namespace weft_tool {

using namespace weft::rt;

const char k_top_help[] = "usage: weft top [--every TIME] [--once] [--json] [PID]\n"
                          "\n"
                          "Shows what a program does: its workers and what they are at, tasks per second, where the time goes, how long tasks run,\n"
                          "steals, idleness and its reason. Without PID: the only program, or the one that started last. q ends it.\n"
                          "  --every TIME  the interval that is shown (1s)\n"
                          "  --once        one interval\n"
                          "  --json        a line of JSON for each\n"
                          "Exit status: 1 when there is no such program.\n";

namespace {

double value(const reading &r, const char *name) { return value_of(r, parse_counter_name(name)); }
double of_worker(const reading &r, unsigned id, const char *base) { return value_of(r, parse_counter_name(name_of_worker(base, id))); }

const char *word_of(block_kind k) { return k == block_kind::worker ? "worker" : k == block_kind::spare ? "spare" : "thread"; }
const char *state_of(const reading::slot &s) { return !s.present ? "outside" : s.idle ? "idle" : "busy"; }

/// "1.2k", "3.4M"; "-" for NaN.
std::string short_number(double v) {
  if (std::isnan(v))
    return "-";
  const char *unit = "";
  for (const char *next : {"k", "M", "G", "T"})
    if (std::fabs(v) >= 10'000) {
      v /= 1000;
      unit = next;
    }
  char text[32];
  std::snprintf(text, sizeof text, std::fabs(v) < 100 && v != std::floor(v) ? "%.1f%s" : "%.0f%s", v, unit);
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
  const int full = std::isnan(share) ? 0 : static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  std::string out;
  for (int i = 0; i < width; ++i)
    out += i < full ? "#" : ".";
  return out;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Empty where tasks enter the graph by themselves.
std::string manager_line(const reading &now, const reading &spent) {
  if (!(value(now, "/managers/count/sent") > 0))
    return "";
  return "manage  " + short_number(value(spent, "/managers/count/sent")) + " messages sent, " + short_number(value(spent, "/managers/count/applied")) +
         " applied by workers; " + short_number(value(now, "/managers/queue/length")) + " wait, of them " +
         short_number(value(now, "/managers/queue/new")) + " of tasks that are to enter the graph\n";
}

std::string summary(const reading &now, const reading &spent) {
  const double all = value(spent, "/threads/time/overall"), exec = value(spent, "/threads/time/cumulative"),
               management = value(spent, "/threads/time/management"), idle = value(spent, "/threads/time/idle");
  char text[1024];
  std::snprintf(text, sizeof text,
                "%s (pid %u)   up %.1f s   %u workers of %u cpus   %s\n\n"
                "tasks   %s run, %s per second; in the graph %s, of them ready %s\n"
                "time    %4.1f %% tasks [%s]   %4.1f %% between tasks   %4.1f %% idle\n"
                "task    mean %s, half below %s, 99 %% below %s; %s of management each\n"
                "moves   %s stolen, %s suspensions, %s sleeps, %s looks in vain\n"
                "memory  %s resident, %s in tasks\n",
                now.program.c_str(), now.pid, static_cast<double>(now.taken_ns - now.started_ns) * 1e-9, now.workers, now.cpus,
                now.ended ? "ENDED" : now.alive ? "" : "KILLED", short_number(value(now, "/threads/count/cumulative")).c_str(),
                short_number(value(spent, "/threads/rate")).c_str(), short_number(value(now, "/threads/count/instantaneous/all")).c_str(),
                short_number(value(now, "/threads/count/instantaneous/pending")).c_str(), 100 * share(exec, all), bar(share(exec, all), 30).c_str(),
                100 * share(management, all), 100 * share(idle, all), short_time(value(spent, "/threads/time/average")).c_str(),
                short_time(value(spent, "/threads/time/duration-p50")).c_str(), short_time(value(spent, "/threads/time/duration-p99")).c_str(),
                short_time(value(spent, "/threads/time/average-management")).c_str(), short_number(value(spent, "/threads/count/stolen")).c_str(),
                short_number(value(spent, "/threads/count/suspended")).c_str(), short_number(value(spent, "/threads/count/sleeps")).c_str(),
                short_number(value(spent, "/threads/count/pending-misses")).c_str(), short_number(value(now, "/memory/resident")).c_str(),
                short_number(value(now, "/memory/tasks")).c_str());
  const std::string reason = now.alive && !now.ended ? why_idle(now, spent).text : "";
  return text + (reason.empty() ? reason : "idle    " + reason + "\n") + manager_line(now, spent);
}

std::string worker_lines(const reading &now, const reading &spent, std::size_t most) {
  std::string out = "\n  id  kind    state     tasks/s     mean   busy                  queue   steals  sleeps\n";
  const double seconds = static_cast<double>(spent.span_ns) * 1e-9;
  std::size_t shown = 0;
  for (const auto &s : now.slots) {
    if (++shown > most)
      return out + "  ... " + std::to_string(now.slots.size() - most) + " more; a higher window shows them\n";
    const double overall = of_worker(spent, s.id, "/threads/time/overall"), idle = of_worker(spent, s.id, "/threads/time/idle");
    char line[200];
    std::snprintf(line, sizeof line, "%4u  %-7s %-8s %8s %8s   [%s] %6s %8s %7s\n", s.id, word_of(s.kind), state_of(s),
                  short_number(of_worker(spent, s.id, "/threads/count/cumulative") / seconds).c_str(),
                  short_time(of_worker(spent, s.id, "/threads/time/average")).c_str(), bar(share(overall - idle, overall), 18).c_str(),
                  short_number(of_worker(now, s.id, "/threadqueue/length")).c_str(), short_number(of_worker(spent, s.id, "/threads/count/stolen")).c_str(),
                  short_number(of_worker(spent, s.id, "/threads/count/sleeps")).c_str());
    out += line;
  }
  return out;
}

/// By powers of two.
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
    std::snprintf(line, sizeof line, "  from %8s  %s %s\n", short_time(static_cast<double>(bucket_floor(static_cast<unsigned>(4 * i)))).c_str(),
                  bar(share(sums[i], most), 40).c_str(), short_number(sums[i]).c_str());
    out += line;
  }
  return most > 0 ? out : "";
}

std::string as_json(const reading &now, const reading &spent) {
  std::string out = "{\"program\":" + json_text(now.program) + ",\"pid\":" + std::to_string(now.pid) + ",\"running\":" +
                    (now.alive && !now.ended ? "true" : "false") + ",\"seconds\":" + json_number(static_cast<double>(now.taken_ns - now.started_ns) * 1e-9) +
                    ",\"interval\":" + json_number(static_cast<double>(spent.span_ns) * 1e-9) + ",\"values\":{";
  bool first = true;
  for (const auto &r : rows_of(spent, parse_counter_name("*"))) {
    if (r.about.absent)
      continue;
    out += (first ? "" : ",") + json_text(r.about.name) + ":" + json_number(r.total);
    first = false;
  }
  out += std::string("},\"idle_reason\":\"") + why_idle(now, spent).word + "\",\"grains\":[";
  const auto sums = grains(spent);
  for (std::size_t i = 0; i < sums.size(); ++i)
    out += (i ? "," : "") + json_number(sums[i]);
  out += "],\"workers\":[";
  first = true;
  for (const auto &s : now.slots) {
    out += std::string(first ? "" : ",") + "{\"id\":" + std::to_string(s.id) + ",\"kind\":\"" + word_of(s.kind) + "\",\"state\":\"" + state_of(s) + "\"";
    first = false;
    for (const char *name : {"/threads/count/cumulative", "/threads/time/overall", "/threads/time/idle", "/threads/time/management", "/threads/count/stolen",
                             "/threads/count/sleeps", "/threadqueue/length"})
      out += "," + json_text(name) + ":" + json_number(of_worker(spent, s.id, name));
    out += "}";
  }
  return out + "]}\n";
}

/// The terminal without echo and line ends, until the end.
class screen {
 public:
  screen() : m_is(isatty(0) && isatty(1) && tcgetattr(0, &m_before) == 0) {
    if (!m_is)
      return;
    termios raw = m_before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(0, TCSANOW, &raw);
    std::fputs("\033[?1049h\033[?25l", stdout);
  }
  ~screen() {
    if (!m_is)
      return;
    std::fputs("\033[?25h\033[?1049l", stdout);
    std::fflush(stdout);
    tcsetattr(0, TCSANOW, &m_before);
  }
  [[nodiscard]] bool is() const { return m_is; }
  [[nodiscard]] static std::size_t lines() {
    winsize w{};
    return ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 ? w.ws_row : 1000;
  }
  void show(const std::string &text) const {
    if (m_is)
      std::fputs("\033[H\033[J", stdout);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  /// True when the user wants to leave.
  [[nodiscard]] bool wait(std::uint64_t until) const {
    if (!m_is)
      return sleep_until(until), false;
    for (std::uint64_t now = now_ns(); now < until; now = now_ns()) {
      pollfd keys{0, POLLIN, 0};
      if (poll(&keys, 1, static_cast<int>((until - now) / 1'000'000 + 1)) != 1)
        continue;
      char key = 'q';
      if (read(0, &key, 1) < 1 || key == 'q' || key == 3 || key == 27)
        return true;
    }
    return false;
  }

 private:
  termios m_before{};
  bool m_is;
};

struct request {
  std::uint64_t every_ns = 1'000'000'000;
  bool once = false, json = false;
  std::string pid, mistake;
};

request parse(const words &arguments) {
  request q;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &word = arguments[i];
    if (word == "--once") {
      q.once = true;
    } else if (word == "--json") {
      q.json = true;
    } else if (word == "--every" && i + 1 < arguments.size()) {
      q.every_ns = parse_time(arguments[++i]);
      if (q.every_ns < 1'000'000)
        q.mistake = "--every needs a time such as 100ms or 2s, not '" + arguments[i] + "'";
    } else if (word.starts_with("-") || !q.pid.empty()) {
      q.mistake = "top does not know '" + word + "'" + suggestion(word, {"--once", "--json", "--every"});
    } else {
      q.pid = word;
    }
  }
  return q;
}

/// The newest of those that run.
std::string choose_program() {
  std::string path;
  std::uint64_t newest = 0;
  for (const auto &p : readable_programs())
    if (p.last.alive && !p.last.ended && p.last.started_ns >= newest) {
      newest = p.last.started_ns;
      path = p.path;
    }
  return path;
}

int watch(const program &p, const request &q) {
  const screen s;
  reading last = p.read();
  if (!last.alive) { // all that there is to see
    const reading &all = last;
    std::fputs((q.json ? as_json(all, all) : summary(all, all) + worker_lines(all, all, 1000) + histogram(all)).c_str(), stdout);
    return k_ok;
  }
  for (std::uint64_t next = now_ns();;) {
    next += q.every_ns;
    if (s.wait(next))
      return k_ok;
    reading now = p.read();
    const reading spent = difference(now, last);
    const std::string grain = histogram(spent);
    const auto taken = static_cast<std::size_t>(std::count(grain.begin(), grain.end(), '\n')) + 13;
    s.show(q.json ? as_json(now, spent)
                  : summary(now, spent) + worker_lines(now, spent, s.is() && s.lines() > taken ? s.lines() - taken : 1000) + grain);
    if (q.once || now.ended || !now.alive)
      return k_ok;
    last = std::move(now);
  }
}

} // namespace

int run_top(const words &arguments) {
  const request q = parse(arguments);
  if (!q.mistake.empty())
    return usage_error(q.mistake);
  if (!q.pid.empty())
    return watch(program(pid_of(q.pid)), q);
  const std::string path = choose_program();
  if (path.empty()) {
    std::fputs("weft: no program shows counters; start one that uses Weft, or give the PID of one that was killed\n", stderr);
    return k_failed;
  }
  return watch(program(path), q);
}

} // namespace weft_tool

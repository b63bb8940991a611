// SPDX-License-Identifier: Apache-2.0
// weft list and weft get: the counters of a program that runs, or that was killed.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/programs.hpp"

#include "base/clock.hpp"
#include "base/visible.hpp"
#include "config/value.hpp"
#include "observe/format.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <unistd.h>

namespace weft_tool {

using namespace weft::rt;

const char k_list_help[] =
    "usage: weft list [--json | --csv] [PID [PATTERN]]\n"
    "\n"
    "Without PID: the programs whose counters can be read. With it: its counters, with units and meaning.\n"
    "Exit status: 1 when PID shows no counters.\n";
const char k_get_help[] =
    "usage: weft get [--every TIME [--times N]] [--delta] [--json | --csv] PID NAMES\n"
    "\n"
    "Prints counters of a program that runs, or that was killed. NAMES are separated by commas; '*' and '?' are wildcards,\n"
    "{worker#*} is each worker: `weft get 123 '/threads{worker#*}/idle-rate,/statistics{/threads/rate}/max'`.\n"
    "  --every TIME  again and again (100ms, 2s), until the program ends\n"
    "  --times N     so often at most\n"
    "  --delta       what was counted since the line before, instead of since the start\n"
    "Exit status: 1 when PID shows no counters, or no such one.\n";

namespace {

struct request {
  output_format format = output_format::text;
  std::uint64_t every_ns = 0;
  std::uint64_t times = 0; // 0: until it ends
  bool delta = false;
  words rest;
  std::string error;
};

/// Says whether a command may show its counters again and again, and so knows --every, --times and
/// --delta.
enum class shows { once, repeatedly };

request parse(const words &arguments, shows how) {
  const bool repeats = how == shows::repeatedly;
  request q;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &word = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (word == "--json" || word == "--csv") {
      q.format = word == "--json" ? output_format::json : output_format::csv;
    } else if (repeats && word == "--delta") {
      q.delta = true;
    } else if (repeats && word == "--every" && has_value) {
      q.every_ns = parse_time(arguments[++i]);
      if (q.every_ns < 1'000'000) // as `weft top`: a reading takes some time as well
        q.error = "--every needs a time such as 100ms or 2s, not '" + arguments[i] + "'";
    } else if (repeats && word == "--times" && has_value) {
      q.times = parse_count(arguments[++i]);
      if (q.times == 0)
        q.error = "--times needs a number, not '" + arguments[i] + "'";
    } else if (word.starts_with("-")) {
      q.error = "'" + word + "' is unknown or needs a value" +
                suggestion(word, {"--json", "--csv", "--every", "--times", "--delta"});
    } else {
      q.rest.push_back(word);
    }
  }
  if (q.times && !q.every_ns)
    q.error = "--times goes with --every";
  return q;
}

int list_programs(output_format how) {
  std::string out = how == output_format::json  ? "["
                    : how == output_format::csv ? "pid,program,state,seconds,workers,tasks\n"
                                                : "";
  bool first = true;
  for (const auto &p : readable_programs()) {
    const reading &r = p.last;
    const char *state = r.ended ? "ended" : r.alive ? "running" : "killed";
    const double seconds = static_cast<double>(r.taken_ns - r.started_ns) * 1e-9,
                 tasks = value_of(r, parse_counter_name("/threads/count/cumulative"));
    char line[640]; // a name of 63 bytes, each escaped by six characters
    const char *format =
        how == output_format::csv ? "%u,%s,%s,%.3f,%u,%.0f\n"
        : how == output_format::json
            ? "{\"pid\":%u,\"program\":%s,\"state\":\"%s\",\"seconds\":%.3f,\"workers\":%u,\"tasks\":%.0f}"
            : "%8u  %-24s %-8s %10.3f s %4u workers %12.0f tasks\n";
    const std::string name = how == output_format::json  ? json_text(r.program)
                             : how == output_format::csv ? csv_text(r.program)
                                                         : visible(r.program);
    std::snprintf(line, sizeof line, format, r.pid, name.c_str(), state, seconds, r.workers, tasks);
    out += (how == output_format::json && !first ? ",\n" : "") + std::string(line);
    first = false;
  }
  if (how == output_format::json)
    out += "]\n";
  if (out.empty())
    std::fputs("weft: no program shows counters\n", stderr);
  std::fputs(out.c_str(), stdout);
  return k_ok;
}

} // namespace

int run_list(const words &arguments) {
  const request q = parse(arguments, shows::once);
  if (!q.error.empty() || q.rest.size() > 2)
    return usage_error(q.error.empty() ? "list takes a PID and a pattern" : q.error);
  if (q.rest.empty())
    return list_programs(q.format);
  const program p(pid_of(q.rest[0]));
  std::vector<counter_info> found;
  for (auto &c : all_counters(p.read()))
    if (q.rest.size() < 2 || matches(q.rest[1], c.name))
      found.push_back(std::move(c));
  std::fputs(write_catalogue(q.format, found).c_str(), stdout);
  return k_ok;
}

int run_get(const words &arguments) {
  const request q = parse(arguments, shows::repeatedly);
  if (!q.error.empty() || q.rest.size() != 2)
    return usage_error(q.error.empty() ? "get takes a PID and names of counters" : q.error);
  const program p(pid_of(q.rest[0]));
  evaluator names(q.rest[1]);
  reading last;
  if (q.delta)
    last = p.read();
  values_writer writer(q.format);
  std::uint64_t next = now_ns();
  for (std::uint64_t n = 1;; ++n) {
    if (n != 1 || q.delta) { // an interval has to pass first
      // A missed interval is not made up for.
      next = std::max(next + (q.every_ns ? q.every_ns : 1'000'000'000), now_ns());
      sleep_until(next);
    }
    reading now = p.read();
    // Statistics begin with the time since the start: there is no line before.
    const reading interval = n != 1 || q.delta ? difference(now, last) : now;
    std::fputs(writer.write(now, names.evaluate(q.delta ? interval : now, interval)).c_str(),
               stdout);
    const bool is_written = flush_output();
    if (const std::string complaint = writer.take_complaint(); !complaint.empty())
      std::fprintf(stderr, "weft: %s\n", complaint.c_str());
    if (!is_written || !q.every_ns || n == q.times || now.ended || !now.alive)
      return k_ok;
    last = std::move(now);
  }
}

} // namespace weft_tool

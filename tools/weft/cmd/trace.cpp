// SPDX-License-Identifier: Apache-2.0
// weft trace: what is in a trace, whether it is sound, a part of it, other formats.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/progress.hpp"
#include "tools/weft/support/text.hpp"
#include "tools/weft/trace/check.hpp"
#include "tools/weft/trace/cut.hpp"
#include "tools/weft/trace/export/export.hpp"

#include <cstdio>

namespace weft_tool {

using namespace weft::rt;

const char k_trace_help[] =
    "usage: weft trace info FOLDER\n"
    "       weft trace check FOLDER\n"
    "       weft trace export --format perfetto|chrome|paraver|dot|csv [--output FILE] FOLDER...\n"
    "       weft trace cut [--from TIME] [--to TIME] --output FOLDER FOLDER\n"
    "\n"
    "`weft run --trace -- PROGRAM` writes a trace, in the Common Trace Format: babeltrace2 FOLDER reads it.\n"
    "  info    what it holds\n"
    "  check   replays it: what no task can do, and where it differs from the counters\n"
    "  export  perfetto: for ui.perfetto.dev; chrome: JSON, for chrome://tracing and others; paraver: FILE.prv, .pcf and .row;\n"
    "          dot: the graph of tasks, for Graphviz; csv: a line per record\n"
    "          perfetto and chrome take the traces of several ranks of a job at once: one picture, with the messages between them\n"
    "  cut     a trace of its own of the records between two times (100ms, 2s), whole even where the program was killed\n"
    "With --progress each of them shows how far it is, as it does at a terminal. Interrupted, they leave no half file.\n"
    "Exit status: 1 when the trace cannot be read, or is not sound; 2 for a bad command line.\n";

namespace {

void print_types(const trace_checker &checker, trace_level level) {
  std::printf("%-40s %12s %12s %12s\n", "type", "created", "executed", "live");
  for (const auto &[name, t] : checker.types)
    std::printf("%-40.40s %12llu %12llu %12llu\n", name.c_str(), wide(t.created),
                wide(t.executed + t.rounds), level >= trace_level::tasks ? wide(t.live) : 0ULL);
}

int info(trace_reader &reader) {
  static constexpr const char *k_levels[] = {"off", "switch", "task", "graph", "runtime"};
  trace_checker c(reader);
  c.run();
  const trace_description &d = reader.about();
  std::printf("program    %s (pid %ld), %u workers\nlevel      %s, %s\n", d.program.c_str(), d.pid,
              d.workers, k_levels[static_cast<int>(d.level)],
              d.mode == trace_mode::flight ? "flight recorder" : "written as it ran");
  std::printf("duration   %.6f s\nrecords    %llu, %llu discarded\n",
              static_cast<double>(c.last_ns) / 1e9, wide(reader.records()),
              wide(reader.discarded()));
  if (d.place.size != 0)
    std::printf(
        "rank       %d of %d on %s, job %s; clock %+.3f us from the job's, within %.3f us\n",
        d.place.rank, d.place.size, d.place.host.c_str(), d.place.job.c_str(),
        static_cast<double>(-d.place.offset_ns) / 1e3,
        static_cast<double>(d.place.uncertain_ns) / 1e3);
  if (!d.kernel.empty())
    std::printf("kernel     %s\n", d.kernel.c_str());
  for (std::size_t e = 0; e < static_cast<std::size_t>(trace_event::limit); ++e)
    if (c.events[e])
      std::printf("  %-12s %llu\n", event_name(static_cast<trace_event>(e)), wide(c.events[e]));
  print_types(c, d.level);
  for (const std::string &t : reader.troubles())
    std::printf("note: %s\n", t.c_str());
  return k_ok;
}

int check(trace_reader &reader) {
  trace_checker c(reader);
  c.run();
  end_progress();
  for (const std::string &s : c.sentences)
    std::printf("fault: %s\n", s.c_str());
  for (const std::string &t : reader.troubles())
    std::printf("note: %s\n", t.c_str());
  if (c.faults) {
    std::printf("%llu faults in %llu records\n", wide(c.faults), wide(reader.records()));
    return k_failed;
  }
  const type_tally &a = c.all;
  if (reader.about().level >= trace_level::tasks)
    print_types(c, reader.about().level);
  if (!c.complete()) {
    std::printf(
        "sound as far as it goes: %llu records of %llu; %llu tasks created and %llu executed in it\n",
        wide(reader.records()), wide(reader.records() + reader.discarded()), wide(a.created),
        wide(a.executed));
    return k_ok;
  }
  if (reader.about().level >= trace_level::tasks)
    std::printf("sound: %llu records; %llu tasks created = %llu executed + %llu live%s\n",
                wide(reader.records()), wide(a.created - a.recorded - a.abandoned),
                wide(a.executed - a.reruns), wide(a.live),
                c.has_counters ? ", as the counters say" : "");
  else
    std::printf("sound: %llu records; %llu tasks executed%s\n", wide(reader.records()),
                wide(a.executed), c.has_counters ? ", as the counters say" : "");
  return k_ok;
}

} // namespace

int run_trace(const words &arguments) {
  if (arguments.empty())
    return usage_error("trace needs one of info, check, export, cut");
  const std::string &what = arguments[0];
  words rest(arguments.begin() + 1, arguments.end());
  begin_long_command(take_progress(rest));
  if (what == "export")
    return run_trace_export(rest);
  if (what == "cut")
    return run_trace_cut(rest);
  if (what != "info" && what != "check")
    return usage_error("trace does not know '" + what + "'" +
                       suggestion(what, {"info", "check", "export", "cut"}));
  if (rest.size() != 1)
    return usage_error("trace " + what + " needs the folder of a trace");
  trace_reader r(rest[0]);
  return what == "info" ? info(r) : check(r);
}

} // namespace weft_tool

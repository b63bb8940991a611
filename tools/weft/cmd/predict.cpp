// SPDX-License-Identifier: Apache-2.0
// weft predict: how long the recorded graph takes on other numbers of workers, or with other tasks.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/progress.hpp"
#include "tools/weft/trace/analysis.hpp"

#include "os/file.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft_tool {

using namespace weft::rt;

const char k_predict_help[] =
    "usage: weft predict [--workers N[,N]...] [--scale TYPE=FACTOR]... [--overhead NS] [--json] [--progress] FOLDER\n"
    "\n"
    "Replays the graph of tasks of a trace (level graph) on other numbers of workers: time and speedup, and the bounds that the graph sets.\n"
    "  --workers LIST       1,2,4 to 256 without it\n"
    "  --scale TYPE=FACTOR  as if the bodies of that type took FACTOR times as long (0.5: twice as fast)\n"
    "  --overhead NS        between two tasks, in place of what was measured; 0: none\n"
    "Exit status: 1 when the trace cannot be read or holds no graph; 2 for a bad command line.\n";

namespace {

struct question {
  std::vector<unsigned> workers{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<std::pair<std::string, double>> scales;
  double overhead = -1;
  bool json = false;
  std::string folder, error;
};

bool take_workers(question &asked, const std::string &text) {
  asked.workers.clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto n = parse_unsigned(text.substr(at, end - at));
    if (!n || *n == 0 || *n > 65536)
      return false;
    asked.workers.push_back(static_cast<unsigned>(*n));
    at = end + 1;
  }
  return true;
}

bool take_scale(question &asked, const std::string &text) {
  const auto equals = text.rfind('=');
  char *end = nullptr;
  const double factor =
      equals == std::string::npos ? -1 : std::strtod(text.c_str() + equals + 1, &end);
  if (!(factor >= 0) || *end != '\0')
    return false;
  asked.scales.emplace_back(text.substr(0, equals), factor);
  return true;
}

question refused(question asked, std::string error) {
  asked.error = std::move(error);
  return asked;
}

question read_question(const words &arguments) {
  question q;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string &w = arguments[at];
    const bool has_value = at + 1 < arguments.size();
    if (w == "--json")
      q.json = true;
    else if (w == "--workers" && has_value) {
      if (!take_workers(q, arguments[++at]))
        return refused(q, "--workers needs numbers from 1, separated by commas, not '" +
                              arguments[at] + "'");
    } else if (w == "--scale" && has_value) {
      if (!take_scale(q, arguments[++at]))
        return refused(q, "--scale needs TYPE=FACTOR, not '" + arguments[at] + "'");
    } else if (w == "--overhead" && has_value) {
      char *end = nullptr;
      q.overhead = std::strtod(arguments[++at].c_str(), &end);
      if (*end != '\0' || !(q.overhead >= 0))
        return refused(q, "--overhead needs nanoseconds, not '" + arguments[at] + "'");
    } else if (w.starts_with("-") || !q.folder.empty())
      return refused(q, "predict does not know '" + w + "'");
    else
      q.folder = w;
  }
  if (q.folder.empty())
    q.error = "predict needs the folder of a trace";
  return q;
}

double time_on(const trace_graph &graph, replay_options options, unsigned workers) {
  options.workers = workers;
  return replay(graph, options).ns;
}

double speedup(double one, double ns) { return ns > 0 ? one / ns : 0; }

void print_text(const question &asked, const trace_reader &reader, const trace_graph &graph,
                const graph_bounds &bounds, double overhead, const std::vector<double> &times,
                double one) {
  std::printf("measured   %.6f s on %u workers\n", static_cast<double>(graph.duration()) / 1e9,
              reader.about().workers);
  std::printf("work       %.6f s in %llu tasks, %.0f ns between two\n", bounds.work_ns / 1e9,
              static_cast<unsigned long long>(graph.executed), overhead);
  std::printf("span       %.6f s, %.6f s with overheads; parallelism %.2f\n", bounds.span_ns / 1e9,
              bounds.burdened_ns / 1e9, bounds.span_ns > 0 ? bounds.work_ns / bounds.span_ns : 0);
  std::printf("%8s %14s %10s\n", "workers", "seconds", "speedup");
  for (std::size_t i = 0; i < times.size(); ++i)
    std::printf("%8u %14.6f %10.2f\n", asked.workers[i], times[i] / 1e9, speedup(one, times[i]));
  if (graph.unfinished != 0)
    std::printf("note: %s; what they had not yet done is not predicted\n",
                unfinished_text(graph.unfinished).c_str());
  if (bounds.not_run != 0)
    std::printf("note: %llu tasks are left out, because they wait for what the trace does not show\n",
                static_cast<unsigned long long>(bounds.not_run));
}

void print_json(const question &asked, const trace_reader &reader, const trace_graph &graph,
                const graph_bounds &bounds, const std::vector<double> &times, double one) {
  std::printf(
      "{\"measured_ns\":%lld,\"workers\":%u,\"work_ns\":%.0f,\"span_ns\":%.0f,\"burdened_span_ns\":%.0f,\"unfinished\":%llu,\"not_run\":%llu,\"predicted\":[",
      static_cast<long long>(graph.duration()), reader.about().workers, bounds.work_ns,
      bounds.span_ns, bounds.burdened_ns, static_cast<unsigned long long>(graph.unfinished),
      static_cast<unsigned long long>(bounds.not_run));
  for (std::size_t i = 0; i < times.size(); ++i)
    std::printf("%s{\"workers\":%u,\"ns\":%.0f,\"speedup\":%.4f}", i ? "," : "", asked.workers[i],
                times[i], speedup(one, times[i]));
  std::puts("]}");
}

} // namespace

int run_predict(const words &given) {
  words arguments = given;
  begin_long_command(take_progress(arguments));
  const question q = read_question(arguments);
  if (!q.error.empty())
    return usage_error(q.error);
  trace_reader r(q.folder);
  const trace_graph g(r);
  replay_options o = measured_costs(g);
  if (q.overhead >= 0)
    o.overhead_ns = q.overhead;
  for (const auto &[type, factor] : q.scales)
    if (!scale_type(r, type, factor, o.scale))
      return usage_error("the trace has no type '" + type + "'; `weft trace info` shows them");
  const graph_bounds b = bounds_of(g, o);
  std::vector<double> times;
  for (const unsigned n : q.workers)
    times.push_back(time_on(g, o, n));
  const double one = q.workers.front() == 1 ? times.front() : time_on(g, o, 1);
  end_progress();
  q.json ? print_json(q, r, g, b, times, one) : print_text(q, r, g, b, o.overhead_ns, times, one);
  return k_ok;
}

} // namespace weft_tool

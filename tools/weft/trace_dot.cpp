// SPDX-License-Identifier: Apache-2.0
#include "trace_export.hpp"
#include "trace_graph.hpp"

#include "base/error.hpp"

#include <weft/error.hpp>

#include <map>

namespace weft_tool {
namespace {

constexpr std::size_t k_most_tasks = 2000; // Graphviz draws no more in a reasonable time

/// Types instead of tasks: how many tasks, and how many edges from one type to the other.
void write_types(const trace_reader &r, const trace_graph &g, std::FILE *out) {
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> types;
  std::map<std::pair<std::string, std::string>, std::uint64_t> edges;
  for (const graph_task &t : g.tasks) {
    if (t.is_join || t.is_root)
      continue;
    auto &[n, ns] = types[r.type_name(t.type)];
    ++n;
    ns += t.exec;
    for (std::uint32_t e = 0; e < t.edges; ++e)
      if (const graph_task &to = g.tasks[g.edges[t.first_edge + e]]; !to.is_join)
        ++edges[{r.type_name(t.type), r.type_name(to.type)}];
  }
  for (const auto &[name, n] : types)
    std::fprintf(out, "  \"%s\" [label=\"%s\\n%llu tasks, %.3f ms\"];\n", escaped(name).c_str(), escaped(name).c_str(), static_cast<unsigned long long>(n.first),
                 static_cast<double>(n.second) / 1e6);
  for (const auto &[pair, n] : edges)
    std::fprintf(out, "  \"%s\" -> \"%s\" [label=\"%llu\"];\n", escaped(pair.first).c_str(), escaped(pair.second).c_str(), static_cast<unsigned long long>(n));
}

void write_tasks(const trace_reader &r, const trace_graph &g, std::FILE *out) {
  for (std::size_t i = 0; i < g.tasks.size(); ++i) {
    const graph_task &t = g.tasks[i];
    if (t.is_join)
      std::fprintf(out, "  t%zu [shape=point];\n", i);
    else
      std::fprintf(out, "  t%zu [label=\"%s %u\\n%.1f us\"];\n", i, escaped(r.type_name(t.type)).c_str(), t.id, static_cast<double>(t.exec) / 1e3);
    for (std::uint32_t e = 0; e < t.edges; ++e)
      std::fprintf(out, "  t%zu -> t%u;\n", i, g.edges[t.first_edge + e]);
    if (t.parent != k_nobody && !g.tasks[t.parent].is_root)
      std::fprintf(out, "  t%u -> t%zu [style=dotted];\n", t.parent, i);
  }
}

} // namespace

void export_dot(trace_reader &r, std::FILE *out) {
  const trace_graph g(r);
  std::fprintf(out, "digraph weft {\n  node [shape=box fontname=\"sans-serif\"];\n");
  if (g.tasks.size() > k_most_tasks)
    write_types(r, g, out);
  else
    write_tasks(r, g, out);
  std::fputs("}\n", out);
}

namespace {

struct file_closer {
  void operator()(std::FILE *f) const noexcept { std::fclose(f); }
};
using open_file = std::unique_ptr<std::FILE, file_closer>;

open_file open_for(const std::string &path) {
  open_file f(std::fopen(path.c_str(), "w"));
  if (!f)
    throw_error(weft::errc::out_of_resources, "'%s' cannot be written", path.c_str());
  return f;
}

constexpr int k_state_event = 1; // of Paraver's state records
enum paraver_state { state_idle = 0, state_running = 1, state_away = 2 };
constexpr unsigned k_type_of_task = 6400000, k_type_of_id = 6400001;

void write_pcf(trace_reader &r, const std::string &path) {
  const open_file f = open_for(path + ".pcf");
  std::fputs("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n0    Idle\n1    Running\n2    Taken off the CPU\n\n"
             "STATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n2    {255,0,174}\n\n",
             f.get());
  std::fprintf(f.get(), "EVENT_TYPE\n0    %u    Task type\nVALUES\n0      none\n", k_type_of_task);
  for (std::size_t i = 1; i < r.about().types.size(); ++i)
    if (!r.about().types[i].empty())
      std::fprintf(f.get(), "%zu      %s\n", i, r.about().types[i].c_str());
  std::fprintf(f.get(), "\nEVENT_TYPE\n0    %u    Task number\n", k_type_of_id);
}

} // namespace

void export_paraver(trace_reader &r, const std::string &path) {
  std::int64_t last = 0;
  unsigned threads = 1;
  char line[200];
  std::multimap<std::int64_t, std::string> sorted;
  stretcher all(r, [&](const stretch &s) {
    static constexpr int k_states[] = {state_running, state_idle, state_away};
    last = std::max(last, s.end);
    threads = std::max(threads, s.slot + 1);
    const long long begin = static_cast<long long>(std::max<std::int64_t>(s.begin, 0)), end = static_cast<long long>(s.end);
    const unsigned t = s.slot + 1;
    std::snprintf(line, sizeof line, "%d:%u:1:1:%u:%lld:%lld:%d\n", k_state_event, t, t, begin, end, k_states[s.what]);
    sorted.emplace(begin, line);
    if (s.what != stretch::body)
      return;
    std::snprintf(line, sizeof line, "2:%u:1:1:%u:%lld:%u:%u:%u:%u\n", t, t, begin, k_type_of_task, s.type, k_type_of_id, s.task);
    sorted.emplace(begin, line);
    std::snprintf(line, sizeof line, "2:%u:1:1:%u:%lld:%u:0:%u:0\n", t, t, end, k_type_of_task, k_type_of_id);
    sorted.emplace(end, line);
  });
  trace_item i;
  while (r.next(i))
    all.take(i);
  all.finish();
  const open_file prv = open_for(path + ".prv");
  std::fprintf(prv.get(), "#Paraver (01/01/2000 at 00:00):%lld_ns:1(%u):1:1(%u:1)\n", static_cast<long long>(last), threads, threads);
  for (const auto &[time, text] : sorted)
    std::fputs(text.c_str(), prv.get());
  write_pcf(r, path);
  const open_file row = open_for(path + ".row");
  std::fprintf(row.get(), "LEVEL CPU SIZE %u\n", threads);
  for (unsigned t = 0; t < threads; ++t)
    std::fprintf(row.get(), "worker %u\n", t);
  std::fprintf(row.get(), "\nLEVEL THREAD SIZE %u\n", threads);
  for (unsigned t = 0; t < threads; ++t)
    std::fprintf(row.get(), "worker %u\n", t);
}

} // namespace weft_tool

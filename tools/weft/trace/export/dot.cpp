// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/export/export.hpp"
#include "tools/weft/trace/graph.hpp"

#include <map>

namespace weft_tool {
namespace {

constexpr std::size_t k_most_tasks = 2000; // Graphviz draws no more in a reasonable time

/// Writes types instead of tasks: the number of tasks, and of edges from one type to the other.
void write_types(const trace_reader &reader, const trace_graph &graph, output_file &out) {
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> types;
  std::map<std::pair<std::string, std::string>, std::uint64_t> edges;
  for (const graph_task &t : graph.tasks) {
    if (t.is_join || t.is_root)
      continue;
    auto &[n, ns] = types[reader.type_name(t.type)];
    ++n;
    ns += t.exec;
    for (std::uint32_t e = 0; e < t.edges; ++e)
      if (const graph_task &to = graph.tasks[graph.edges[t.first_edge + e]]; !to.is_join)
        ++edges[{reader.type_name(t.type), reader.type_name(to.type)}];
  }
  for (const auto &[name, n] : types)
    out.print("  \"%s\" [label=\"%s\\n%llu tasks, %.3f ms\"];\n", escaped(name).c_str(),
              escaped(name).c_str(), static_cast<unsigned long long>(n.first),
              static_cast<double>(n.second) / 1e6);
  for (const auto &[pair, n] : edges)
    out.print("  \"%s\" -> \"%s\" [label=\"%llu\"];\n", escaped(pair.first).c_str(),
              escaped(pair.second).c_str(), static_cast<unsigned long long>(n));
}

void write_tasks(const trace_reader &reader, const trace_graph &graph, output_file &out) {
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const graph_task &t = graph.tasks[i];
    if (t.is_join)
      out.print("  t%zu [shape=point];\n", i);
    else
      out.print("  t%zu [label=\"%s %u\\n%.1f us\"];\n", i,
                escaped(reader.type_name(t.type)).c_str(), t.id, static_cast<double>(t.exec) / 1e3);
    for (std::uint32_t e = 0; e < t.edges; ++e)
      out.print("  t%zu -> t%u;\n", i, graph.edges[t.first_edge + e]);
    if (t.parent != k_nobody && !graph.tasks[t.parent].is_root)
      out.print("  t%u -> t%zu [style=dotted];\n", t.parent, i);
  }
}

} // namespace

void export_dot(trace_reader &reader, output_file &out) {
  const trace_graph g(reader);
  out.print("digraph weft {\n  node [shape=box fontname=\"sans-serif\"];\n");
  if (g.tasks.size() > k_most_tasks)
    write_types(reader, g, out);
  else
    write_tasks(reader, g, out);
  out.put("}\n");
}

} // namespace weft_tool

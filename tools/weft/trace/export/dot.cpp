// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/export/export.hpp"
#include "tools/weft/trace/graph.hpp"

#include <algorithm>
#include <map>

namespace weft_tool {
namespace {

constexpr std::size_t k_most_tasks = 2000; // Graphviz draws no more in a reasonable time

using order = std::pair<std::uint16_t, std::uint16_t>; // of types

/// Counts the orders between tasks by their types. Each task before a join comes before each task behind
/// it; of joins behind joins, and of promises, no type is known.
std::map<order, std::uint64_t> orders_of(const trace_graph &graph) {
  std::map<order, std::uint64_t> orders;
  std::vector<std::pair<std::uint32_t, std::uint16_t>> before; // a join, and the type of a task before it
  for (const graph_task &t : graph.tasks)
    for (std::uint32_t e = t.first_edge; !t.is_join && e < t.first_edge + t.edges; ++e)
      if (const std::uint32_t to = graph.edges[e]; graph.tasks[to].is_join)
        before.emplace_back(to, t.type);
      else
        ++orders[{t.type, graph.tasks[to].type}];
  std::sort(before.begin(), before.end());
  for (auto at = before.begin(); at != before.end();) {
    const auto [join, type] = *at;
    const auto behind = std::upper_bound(at, before.end(), *at);
    const graph_task &j = graph.tasks[join];
    for (std::uint32_t e = j.first_edge; e < j.first_edge + j.edges; ++e)
      if (const graph_task &to = graph.tasks[graph.edges[e]]; !to.is_join)
        orders[{type, to.type}] += static_cast<std::uint64_t>(behind - at);
    at = behind;
  }
  return orders;
}

/// Writes types instead of tasks: the number of tasks, and of orders from one type to the other.
void write_types(const trace_reader &reader, const trace_graph &graph, output_file &out) {
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> types;
  for (const graph_task &t : graph.tasks) {
    if (t.is_join || t.is_root)
      continue;
    auto &[n, ns] = types[reader.type_name(t.type)];
    ++n;
    ns += t.exec;
  }
  std::map<std::pair<std::string, std::string>, std::uint64_t> edges;
  for (const auto &[pair, n] : orders_of(graph))
    edges[{reader.type_name(pair.first), reader.type_name(pair.second)}] += n;
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

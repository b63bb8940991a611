// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/analysis.hpp"

namespace weft_tool {

namespace {

// As in traces of bench/apps on two processors (docs/benchmarks/traces.md).
constexpr double k_usual_wake_ns = 2000;
constexpr double k_steal_ns = 200;

} // namespace

std::string unfinished_text(std::uint64_t tasks) {
  return std::to_string(tasks) + (tasks == 1 ? " task" : " tasks") + " of the trace had not ended";
}

replay_options measured_costs(const trace_graph &graph) {
  replay_options o;
  o.overhead_ns = static_cast<double>(graph.overhead);
  o.steal_ns = k_steal_ns;
  o.wake_ns = graph.wake >= 0 ? static_cast<double>(graph.wake) : k_usual_wake_ns;
  return o;
}

graph_bounds bounds_of(const trace_graph &graph, const replay_options &options) {
  graph_bounds b;
  for (const graph_task &t : graph.tasks)
    b.work_ns +=
        static_cast<double>(t.exec) * (t.type < options.scale.size() ? options.scale[t.type] : 1.0);
  replay_options bare;
  bare.scale = options.scale;
  replayed span = replay(graph, bare);
  b.span_ns = span.ns;
  b.not_run = span.unfinished;
  b.path = std::move(span.path);
  bare.overhead_ns = options.overhead_ns;
  b.burdened_ns = replay(graph, bare).ns;
  return b;
}

bool scale_type(const trace_reader &reader, const std::string &name, double factor,
                std::vector<double> &scale) {
  bool found = false;
  for (std::size_t i = 1; i < reader.about().types.size(); ++i)
    if (reader.about().types[i] == name) {
      if (scale.size() <= i)
        scale.resize(i + 1, 1.0);
      scale[i] = factor;
      found = true;
    }
  return found;
}

} // namespace weft_tool

// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/analysis.hpp"

namespace weft_tool {

namespace {

// As in traces of bench/apps on two processors (docs/benchmarks/traces.md).
constexpr double k_usual_wake_ns = 2000;
constexpr double k_steal_ns = 200;

} // namespace

replay_options measured_costs(const trace_graph &g) {
  replay_options o;
  o.overhead_ns = static_cast<double>(g.overhead);
  o.steal_ns = k_steal_ns;
  o.wake_ns = g.wake >= 0 ? static_cast<double>(g.wake) : k_usual_wake_ns;
  return o;
}

graph_bounds bounds_of(const trace_graph &g, const replay_options &o) {
  graph_bounds b;
  for (const graph_task &t : g.tasks)
    b.work_ns += static_cast<double>(t.exec) * (t.type < o.scale.size() ? o.scale[t.type] : 1.0);
  replay_options bare;
  bare.scale = o.scale;
  replayed span = replay(g, bare);
  b.span_ns = span.ns;
  b.path = std::move(span.path);
  bare.overhead_ns = o.overhead_ns;
  b.burdened_ns = replay(g, bare).ns;
  return b;
}

bool scale_type(const trace_reader &r, const std::string &name, double factor,
                std::vector<double> &scale) {
  bool found = false;
  for (std::size_t i = 1; i < r.about().types.size(); ++i)
    if (r.about().types[i] == name) {
      if (scale.size() <= i)
        scale.resize(i + 1, 1.0);
      scale[i] = factor;
      found = true;
    }
  return found;
}

} // namespace weft_tool

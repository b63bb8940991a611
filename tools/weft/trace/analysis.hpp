// SPDX-License-Identifier: Apache-2.0
// Computes numbers from a graph and its trace.
#pragma once

#include "tools/weft/trace/replay.hpp"

#include <string>

namespace weft_tool {

/// Returns the costs of running tasks that the trace shows, and usual ones where it shows too
/// little.
[[nodiscard]] replay_options measured_costs(const trace_graph &graph);

struct graph_bounds {
  double work_ns = 0, span_ns = 0,
         burdened_ns = 0; // burdened: with the overhead of each task on the way
  std::uint64_t not_run = 0; // tasks that the replay could not run
  std::vector<path_step> path;
};
[[nodiscard]] graph_bounds bounds_of(const trace_graph &graph, const replay_options &options);

/// Returns "3 tasks of the trace had not ended".
[[nodiscard]] std::string unfinished_text(std::uint64_t tasks);

/// Scales the bodies of a type; returns false when no type has that name.
bool scale_type(const trace_reader &reader, const std::string &name, double factor,
                std::vector<double> &scale);

} // namespace weft_tool

// SPDX-License-Identifier: Apache-2.0
// Simulates a recorded graph on any number of workers. Each worker has a list of its own, as with
// the policy `stealing`. It runs first the task that its last one made ready, then the newest of
// its list; when it has none, it takes the oldest of another worker's list.
#pragma once

#include "tools/weft/trace/graph.hpp"

#include <map>

namespace weft_tool {

struct replay_options {
  unsigned workers = 0;      // 0: as many as there is work for
  double overhead_ns = 0;    // of each task, on its worker
  double burden_ns = 0;      // of each task that another one made ready: what a migration costs
  double steal_ns = 0; // of each task that another worker takes than the one that made it ready
  double wake_ns = 0; // until a worker that had nothing begins what has become ready
  std::vector<double> scale; // by type: how long its bodies take; empty: as recorded
};

struct path_step {
  std::uint32_t task;
  double ns; // of its body on the path
};

struct replayed {
  double ns = 0;
  std::uint64_t unfinished = 0; // tasks that wait for what the trace does not show
  std::vector<path_step> path; // the longest chain, from its end, only without a number of workers
};

[[nodiscard]] replayed replay(const trace_graph &graph, const replay_options &options);

} // namespace weft_tool

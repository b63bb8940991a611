// SPDX-License-Identifier: Apache-2.0
// The discrete-event model: docs/design/manager_model.md says what it models, and what not.
#pragma once

#include "counters.hpp"
#include "graph.hpp"
#include "parameters.hpp"

namespace manager_model {

struct outcome {
  double time_ns = 0;              // until the main task has waited for everything
  double creator_ns = 0; // time of creators for creating and posting, without their waits
  mean body_ns; // including the cost of a cold cache
  mean new_ns, done_ns, delete_ns; // by worker or manager; including the wait for the lock
  mean lock_ns; // to get the lock
  double manager_ns = 0; // time of all managers
  std::uint64_t executed = 0;
  std::uint64_t steals = 0;
  std::uint64_t applied_by_workers = 0; // hybrid: messages that the policies did not push
  timeline counts;
};

/// Simulates; the result depends on the arguments alone. Throws std::invalid_argument for
/// parameters that do not go together.
[[nodiscard]] outcome simulate(const task_graph &graph, const parameters &p);

} // namespace manager_model

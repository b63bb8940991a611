// SPDX-License-Identifier: Apache-2.0
// The discrete-event model: docs/design/manager_model.md says what is modelled, and what is not.
#pragma once

#include "counters.hpp"
#include "graph.hpp"
#include "parameters.hpp"

namespace manager_model {

struct outcome {
  double time_ns = 0;              // until the main task has waited for everything
  double creator_ns = 0;           // that creators have spent on creating and posting, without their waits
  mean body_ns;                    // with what a cold cache adds
  mean new_ns, done_ns, delete_ns; // whoever applies it; with the wait for the lock
  mean lock_ns;                    // to get the lock
  double manager_ns = 0;           // that managers spent in all
  std::uint64_t executed = 0;
  std::uint64_t steals = 0;
  std::uint64_t applied_by_workers = 0; // hybrid: messages that the policies did not push
  timeline counts;
};

/// Deterministic: a function of its arguments. Throws std::invalid_argument for parameters that do not go
/// together.
[[nodiscard]] outcome simulate(const task_graph &graph, const parameters &p);

} // namespace manager_model

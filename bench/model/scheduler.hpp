// SPDX-License-Identifier: Apache-2.0
// A discrete-event model of workers that take items from the queue of the policy `delegated`:
// docs/design/manager_model.md says what it models, and what not.
#pragma once

#include <cstdint>
#include <istream>
#include <span>
#include <string_view>

namespace scheduler_model {

/// Names what guards the queue: a ticket lock that each worker takes itself; a delegation lock whose
/// owner serves one waiter after the other; one whose owner serves a run of waiters together; and
/// such a lock and queue on each node.
enum class lock_mode { plain, delegation, combining, per_node };

[[nodiscard]] std::string_view name_of(lock_mode mode) noexcept;

struct parameters {
  lock_mode mode = lock_mode::plain;
  unsigned workers = 1, nodes = 1; // workers are spread evenly: worker w is on node w % nodes
#define SCHEDULER_COST(field, value, text) double field = value;
#define SCHEDULER_KNOB(field, value, least, most, text) double field = value;
#include "scheduler.def"
};

struct parameter_info {
  std::string_view name;
  double parameters::*field;
  double least, most;
  std::string_view text;
};
[[nodiscard]] std::span<const parameter_info> all_parameters() noexcept;
/// Sets "name=number" or "name = number". Throws std::invalid_argument, which names the fault.
void set(parameters &p, std::string_view assignment);
/// Reads a file, as weft-manager-calibrate --scheduler writes it; messages name `origin` and the line.
void read(parameters &p, std::istream &from, std::string_view origin);

struct outcome {
  double time_ns = 0;           // until all items have been taken and computed
  double wait_ns = 0;           // mean time from a look to its answer
  std::uint64_t hand_overs = 0; // of the lock, to a worker that waited for it
  std::uint64_t runs = 0;       // that owners served; a waiter that is served alone is one
  std::uint64_t served = 0;     // items that owners gave to waiters
};

/// Simulates; the result depends on the arguments alone. Throws std::invalid_argument for numbers of
/// workers and nodes that do not go together.
[[nodiscard]] outcome simulate(const parameters &p);

} // namespace scheduler_model

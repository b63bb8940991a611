// SPDX-License-Identifier: Apache-2.0
// A discrete-event model of workers whose tasks share the bandwidth of the memory, and of the policy
// that says how many of them work: docs/design/manager_model.md says what it models, and what not.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace memory_model {

/// Names what decides how many workers work: nothing (all do), or a goal of tune.workers.
enum class goal { all, work, energy, watts };

[[nodiscard]] std::string_view name_of(goal aim) noexcept;

struct parameters {
  unsigned workers = 16;
  double tasks = 600'000;
  double compute_ns = 200'000;  // of a task that gets all bytes at once
  double bytes = 2'000'000;     // that a task moves, while it computes
  double bandwidth = 40;        // of the memory, in bytes per nanosecond, which all workers share
  double jitter = 0.1;         // tasks take up to this part longer or shorter, by the seed
  double wake_ns = 5000;       // from the decision until a parked worker begins a task
  double busy = 5, idle = 1;   // watts of a processor whose worker has a task; of another one
  double low = 0, high = 1e9;  // goal watts: the band
  std::uint64_t seed = 1;
};

struct outcome {
  double time_ns = 0;   // until all tasks have ended
  double energy_uj = 0; // of all processors
  double busy_ns = 0;   // of all workers
  unsigned kept = 0;    // workers between trials, in the end
  unsigned changes = 0; // of that number
};

/// Reads the energy that a window has taken, in uJ, of what the processors have taken in all.
using meter = std::function<double(double energy_uj)>;

/// Runs the tasks; the result depends on the arguments alone. Without a meter the policy sees the
/// energy as it is. Throws std::invalid_argument for numbers that make no sense.
[[nodiscard]] outcome simulate(const parameters &p, goal aim, const meter &read = {});

} // namespace memory_model

// SPDX-License-Identifier: Apache-2.0
// A discrete-event model of a loop whose blocks choose their sizes, and of the same loop with a fixed
// grain: docs/design/manager_model.md says what it models, and what not. It asks the rules that the
// loops of Weft ask (<weft/detail/loop_blocks.hpp>, <weft/detail/chunk_range.hpp>).
#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace loop_model {

struct parameters {
  unsigned workers = 2;
  double wake_ns = 5000;  // from the publication until a worker begins
  double take_ns = 20;    // a block is taken from the own range, with a look at the clock
  double steal_ns = 200;  // one is stolen
  double noise = 0;       // of a block's time: the deviation of its logarithm
  double preempted = 0;   // part of the blocks that lose a time slice
  double slice_ns = 1e6;  // that they lose
  double late = 0;        // part of the wake-ups after which the worker is preempted
  double late_ns = 1e7;   // how much later it begins then
  unsigned late_calls = UINT_MAX; // in the first so many calls
  unsigned calls = 1;     // of the loop; the last one counts, because a call site remembers
  std::uint64_t seed = 1;
};

struct outcome {
  double time_ns = 0;
  double work_ns = 0;        // of all iterations, with noise
  std::uint64_t blocks = 0;  // taken or stolen
  std::uint64_t steals = 0;
  unsigned participants = 1;
  std::vector<unsigned> runs; // how often each iteration ran
};

/// Tells what a clock shows at a time of the model.
using clock = std::function<double(double ns)>;

/// Runs a loop of these iterations, whose costs are in nanoseconds. `grain`: iterations of a block; 0:
/// the blocks choose their sizes, by what `shows` says of the time. Throws std::invalid_argument for
/// numbers that make no sense.
[[nodiscard]] outcome simulate(const parameters &p, const std::vector<double> &costs, std::uint64_t grain,
                               const clock &shows = {});

/// Returns the least time of the serial loop, of equal shares, and of the grains 1, 4, 16, ...
[[nodiscard]] double best_fixed(const parameters &p, const std::vector<double> &costs);

/// Returns the costs of a loop, by its name: uniform, triangle, power, half, mandelbrot, spmv. They are
/// counts of steps that the loop takes, times the time of a step. Throws std::invalid_argument.
[[nodiscard]] std::vector<double> costs_of(std::string_view loop, std::size_t iterations, double step_ns);

} // namespace loop_model

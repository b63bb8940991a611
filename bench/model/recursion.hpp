// SPDX-License-Identifier: Apache-2.0
// A discrete-event model of a recursion that halves a range of leaves by joins with a cost, and of the
// same recursion with a fixed cut-off: docs/design/manager_model.md says what it models, and what not.
// It asks the rule that joins and tasks with a cost ask (<weft/detail/work_estimate.hpp>).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace recursion_model {

/// Says what work in place is: calls that ask as a join does, or the serial program, which asks nothing.
enum class below { calls, serial };

struct parameters {
  unsigned workers = 2;
  below in_place = below::calls;
  double ask_ns = 4;       // a join in place
  double fork_ns = 10;     // a join whose second branch is public, and is taken back
  double clock_ns = 20;    // a look at the clock; work that is measured takes two
  double steal_ns = 200;   // a branch is stolen
  double wake_ns = 5000;   // from a publication until a worker that sleeps looks for work
  double spin_ns = 20'000; // after which a worker without work sleeps
  double noise = 0;        // of a leaf's time: the deviation of its logarithm
  double preempted = 0;    // part of the leaves that lose a time slice
  double slice_ns = 1e6;   // that they lose
  unsigned calls = 1;      // of the recursion; the last one counts, because a site remembers
  std::uint64_t seed = 1;
};

struct outcome {
  double time_ns = 0;
  double work_ns = 0;         // of all leaves, with noise
  double longest_ns = 0;      // of what has run in place at once
  std::uint64_t apart = 0;    // joins with a public branch
  std::uint64_t in_place = 0; // joins in place; those of the serial program are not counted
  std::uint64_t steals = 0;
  std::uint64_t largest = 0;  // cost whose work is known to be small, in the end
  std::vector<unsigned> runs; // how often each leaf ran
};

/// Says what a range of leaves tells of its cost. 0: unknown.
using cost_of = std::function<std::uint64_t(std::size_t first, std::size_t count)>;
/// Tells what a clock shows at a time of the model.
using clock = std::function<double(double ns)>;

/// Runs a recursion over these leaves, whose times are in nanoseconds. `cut`: ranges of at most so many
/// leaves are the serial program; 0: each range says its cost, by default the number of its leaves.
/// Throws std::invalid_argument for numbers that make no sense.
[[nodiscard]] outcome simulate(const parameters &p, const std::vector<double> &leaves, std::size_t cut,
                               const cost_of &says = {}, const clock &shows = {});

/// Returns the least time of the serial program and of the cut-offs 1, 4, 16, ...
[[nodiscard]] double best_cut(const parameters &p, const std::vector<double> &leaves);

} // namespace recursion_model

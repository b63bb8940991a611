// SPDX-License-Identifier: Apache-2.0
// A model of a program with a session: a site that is called again and again, whose grain is tuned. It
// asks the rules of sessions (src/tune/paired_trials.hpp, search.hpp, criteria.hpp) in model time:
// docs/design/manager_model.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace session_model {

struct parameters {
  unsigned workers = 2;
  double points = 1e6;       // units of work of a call
  double point_ns = 1;       // of one unit
  double overhead_ns = 100;  // of a task
  double wake_ns = 5000;     // of a call
  int values = 21;           // grains: powers of two from 1
  int first = 10;            // index of the default
  bool by_law = false;       // begins at the guess of the law, else at the default
  unsigned windows = 2000;   // calls
  unsigned phase = 0;        // calls of a phase; 0: one phase. In every second one a unit takes 8 times as long
  double noise = 0;          // of a call's time: the deviation of its logarithm
  double preempted = 0;      // part of the calls that lose a time slice
  double slice_ns = 4e6;
  double budget = 0.02;
  std::uint64_t seed = 1;
};

struct outcome {
  double last_over_best = 0;  // of the kept value's cost, without noise, in the last phase
  double time_over_best = 0;  // of all calls without noise, over those with the best value of each phase
  double lost = 0;            // by trials, as a part of the time of all calls without noise
  unsigned trials = 0, settled_after = 0; // windows; 0: never
  unsigned changes = 0;       // of the present value after it was settled at
  bool gave_up = false;
};

/// Returns the time of a call with this grain: tasks in rounds of as many as there are workers.
[[nodiscard]] double time_of(const parameters &p, int value, bool in_second_phase = false);

/// Tells what a clock shows as the time of a window that takes `ns`.
using clock = std::function<double(unsigned window, double ns)>;

/// Runs the program; the result depends on the arguments alone.
[[nodiscard]] outcome simulate(const parameters &p, const clock &shows = {});

} // namespace session_model

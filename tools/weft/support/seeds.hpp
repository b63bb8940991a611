// SPDX-License-Identifier: Apache-2.0
// `weft run --seeds N`: many orders of one program's tasks.
#pragma once

#include "tools/weft/commands.hpp"

#include <chrono>

namespace weft_tool {

struct exploration {
  words program;
  words options; ///< of `weft run`, for the command that repeats a run
  int seeds = 0;
  std::chrono::milliseconds limit{60'000}; ///< of one run
};

/// Runs the program once without a seed on one worker, and with the seeds 1 to N; reports the first that
/// gives another exit code, signal or output.
int explore_seeds(const exploration &what);

/// Makes addresses the same in every run of the programs that this process starts.
void fix_addresses();

} // namespace weft_tool

// SPDX-License-Identifier: Apache-2.0
// The trials: applications at two grains, modes as settings, and the choice of them in each study.
#pragma once

#include "managers.hpp"

namespace bench::managers {

/// Is an application at two grains. The paper's fine grain is half of the coarse one; this fine
/// grain has tasks of a few microseconds, because today's cores are that much faster.
struct program {
  std::string name;
  long coarse, fine; // tiles
};

struct mode {
  std::string name;
  std::vector<std::string> settings; // NAME=value
};

[[nodiscard]] const std::vector<program> &all_programs();
[[nodiscard]] const std::vector<mode> &all_modes();

/// Is one process.
struct trial {
  study what = study::times;
  std::string app, grain, mode;
  long tile = 0;
  int workers = 0;
  std::string parameter; // with its value, of study::parameters: max_ops=8
  std::vector<std::string> settings;
  int run = 0;
};

/// Returns the trials, interleaved: all of one run before the next run.
[[nodiscard]] std::vector<trial> trials_of(study s, const options &o);
[[nodiscard]] std::string name_of(study s);
/// Returns the number of runs: the user's choice, or the study's.
[[nodiscard]] int runs_of(study s, const options &o);

} // namespace bench::managers

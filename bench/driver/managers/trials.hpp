// SPDX-License-Identifier: Apache-2.0
// What is to be run: applications at two grains, modes as settings, and which of them each study takes.
#pragma once

#include "managers.hpp"

namespace bench::managers {

/// The paper's fine grain is half of the coarse one; ours has tasks of a few microseconds, for today's cores are that much faster.
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

/// One process.
struct trial {
  study what = study::times;
  std::string app, grain, mode;
  long tile = 0;
  int workers = 0;
  std::string parameter; // with its value, of study::parameters: max_ops=8
  std::vector<std::string> settings;
  int run = 0;
};

/// Interleaved: all of a run before the next one.
[[nodiscard]] std::vector<trial> trials_of(study s, const options &o);
[[nodiscard]] std::string name_of(study s);
/// Asked for, or what the study wants.
[[nodiscard]] int runs_of(study s, const options &o);

} // namespace bench::managers

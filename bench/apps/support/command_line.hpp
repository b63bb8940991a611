// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "application.hpp"

namespace app {

struct command {
  enum class mode { run, serial, describe, help } what = mode::run;
  settings chosen; // size, tile and the application's own
  int reps = 3;
  int workers = 0; // 0: one per CPU that the process may use
};

/// Reads the command line; throws bad_option.
[[nodiscard]] command parse_command(int argc, char **argv, const description &d);
[[nodiscard]] std::string help(const std::string &program, const description &d);

} // namespace app

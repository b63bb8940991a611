// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "results.hpp"

#include <string>
#include <vector>

namespace bench {

struct options {
  enum class mode { suites, instructions, memory, beside, list } what = mode::suites;
  std::vector<std::string>
      only;  // regular expressions over "suite/workload"; a bare name stands for either
  std::vector<std::string> peers; // empty: all
  int workers = 0;                // 0: those of the catalogue
  std::string json;               // a second place for the results
  int runs = 9;
  bool quick = false;
  bool break_even = false; // suite "break-even" in place of the catalogue
  form output = form::text;
  int busy = 4; // processes of --beside
};

/// Reads the options. Ends the program after --help; runtime_error names what is wrong.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

} // namespace bench

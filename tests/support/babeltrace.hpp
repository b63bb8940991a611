// SPDX-License-Identifier: Apache-2.0
// Whether another reader of the Common Trace Format reads a trace. Every test that writes one asks, but for those whose program was killed (a cut
// makes a whole trace of it) and one of 3000 streams.
#pragma once

#include "support/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace test {

/// Nothing to expect where babeltrace2 is not installed.
inline void expect_babeltrace_reads(const std::string &folder) {
  static const bool is_there = std::system("command -v babeltrace2 >/dev/null 2>&1") == 0;
  if (!is_there)
    return;
  std::FILE *const out = popen(("babeltrace2 --output-format=dummy '" + folder + "' 2>&1").c_str(),
                               "r"); // not run(): it is no program of this build
  ASSERT_NE(out, nullptr);
  std::string said;
  for (char line[400]; std::fgets(line, sizeof line, out);)
    said += line;
  EXPECT_EQ(pclose(out), 0) << folder << "\n" << said;
}

/// That of a process with these settings, when it has ended in order.
inline void expect_babeltrace_reads(const environment &settings) {
  for (const auto &[name, value] : settings)
    if (name == "WEFT_TRACE_DIR")
      expect_babeltrace_reads(value);
}

} // namespace test

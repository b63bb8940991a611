// SPDX-License-Identifier: Apache-2.0
// Whether another reader of the Common Trace Format reads a trace.
#pragma once

#include "support/case_process.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace test {

/// Nothing to expect where babeltrace2 is not installed.
inline void expect_babeltrace_reads(const std::string &folder) {
  static const bool is_there = std::system("command -v babeltrace2 >/dev/null 2>&1") == 0;
  if (!is_there)
    return;
  const auto end = run({"/bin/sh", "-c", "exec babeltrace2 --output-format=dummy '" + folder + "'"}, {});
  EXPECT_TRUE(end.exited(0)) << folder << "\n" << end;
}

} // namespace test

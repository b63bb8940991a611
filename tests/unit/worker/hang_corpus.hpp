// SPDX-License-Identifier: Apache-2.0
// What the files of the corpus share: a program that hangs, and what its report must say. Each file
// has the programs of a theme.
#pragma once

#include "support/case_process.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace test {

enum class why { circle, nobody_left };

struct sick_program {
  const char *name;
  friend std::ostream &operator<<(std::ostream &to, const sick_program &p) { return to << p.name; }
  why because;
  void (*run)();
  std::vector<std::string> causes; // what the report must have; "this|or that"
  environment settings{}; // beside two workers
};

/// Ends a program that does not come to the point where it hangs: it is none of the corpus.
inline void must(bool good) {
  if (!good)
    std::_Exit(3);
}

struct sick : testing::TestWithParam<sick_program> {};

} // namespace test

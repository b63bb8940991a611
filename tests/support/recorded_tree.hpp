// SPDX-License-Identifier: Apache-2.0
// Machines as they described themselves: tests/trees/NAME.tree, files of /proc and /sys behind lines "== PATH".
#pragma once

#include "support/fake_tree.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace test {

inline void load(fake_tree &tree, const std::string &name) {
  std::ifstream in(std::string(WEFT_TREES) + name + ".tree");
  ASSERT_TRUE(in) << WEFT_TREES << name;
  std::string line, path, text;
  const auto finish = [&] {
    if (!path.empty())
      tree.put(path, text);
    text.clear();
  };
  while (std::getline(in, line)) {
    if (line.rfind("== ", 0) == 0) {
      finish();
      path = line.substr(3);
    } else if (!path.empty()) {
      text += line + "\n";
    }
  }
  finish();
}

} // namespace test

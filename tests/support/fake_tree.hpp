// SPDX-License-Identifier: Apache-2.0
// A folder of small files that stands for the root of a system, gone at the end of the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace test {

class fake_tree {
 public:
  fake_tree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-tree-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    m_root = pattern;
  }
  fake_tree(const fake_tree &) = delete;
  fake_tree &operator=(const fake_tree &) = delete;
  ~fake_tree() { std::filesystem::remove_all(m_root); }

  void put(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(m_root + path).parent_path());
    std::ofstream(m_root + path) << text;
  }

  [[nodiscard]] const std::string &root() const { return m_root; }

 private:
  std::string m_root;
};

} // namespace test

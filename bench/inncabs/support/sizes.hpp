// SPDX-License-Identifier: Apache-2.0
// The sizes of a program: named numbers, which the command line may change.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inncabs {

/// Describes one size of a program.
struct parameter {
  const char *name;
  long value; // for measurements
  long tiny;  // for tests
  long least, most;
  const char *meaning;
};

/// Holds a value for each parameter of a program.
class sizes {
 public:
  sizes(std::span<const parameter> all, bool tiny);

  /// Takes "name=value". Throws std::runtime_error with a message that names the size and its
  /// range.
  void set(std::string_view assignment);
  [[nodiscard]] long operator[](std::string_view name) const;
  [[nodiscard]] int integer(std::string_view name) const { return static_cast<int>((*this)[name]); }
  [[nodiscard]] std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>((*this)[name]);
  }
  /// Returns "name=value ...".
  [[nodiscard]] std::string text() const;

 private:
  std::span<const parameter> m_all;
  std::vector<long> m_values;
};

} // namespace inncabs

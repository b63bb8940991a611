// SPDX-License-Identifier: Apache-2.0
// The data set of handwritten digits.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace demo {

inline constexpr int k_pixels = 64; // 8 x 8
inline constexpr int k_classes = 10;

struct image {
  std::array<double, k_pixels> pixels; // 0..1
  int digit;
};

/// Reads the data set. Throws input_error when the file is missing or is anything else.
std::vector<image> read_digits(const std::string &file);

/// Returns the first of the usual paths that has the data set. Throws input_error when none has.
std::string find_digits();

} // namespace demo

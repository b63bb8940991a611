// SPDX-License-Identifier: Apache-2.0
// Draws curves as a small SVG picture.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace manager_model {

enum class scale { linear, logarithmic };

struct curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct chart {
  std::string title, x_label, y_label;
  scale x = scale::linear, y = scale::linear;
  std::vector<curve> curves;
};

/// Writes the picture, without the points that have no logarithm. A curve of one point is a ring, of a size of
/// its own, so that several at one place are seen.
void write_svg(std::ostream &to, const chart &c);

} // namespace manager_model

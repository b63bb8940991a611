// SPDX-License-Identifier: Apache-2.0
// The measured values, and their table.
#pragma once

#include "rows.hpp"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace bench::omp {

/// Maps each figure and each contender, by their titles, to values in the figure's unit.
using values = std::map<std::string, std::map<std::string, std::vector<double>>>;

/// Writes the table as Markdown: median (least) of each contender; Weft's worse column beside the
/// target. Returns how many targets are missed.
int write_table(std::ostream &to, const values &all, int rounds);

/// Puts `text` between the marks of a page. Throws std::runtime_error when it has none.
void write_page(const std::string &path, const std::string &text);

} // namespace bench::omp

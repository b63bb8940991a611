// SPDX-License-Identifier: Apache-2.0
// What was measured, and its table.
#pragma once

#include "rows.hpp"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace bench::omp {

/// Values of each figure (by its title), in its unit, of each contender (by its title).
using values = std::map<std::string, std::map<std::string, std::vector<double>>>;

/// The table as Markdown: median (least) of each contender; Weft's worse column beside what is asked. Returns
/// how many are missed.
int write_table(std::ostream &to, const values &all, int rounds);

/// Puts `text` between the marks of a page. Throws std::runtime_error when it has none.
void write_page(const std::string &path, const std::string &text);

} // namespace bench::omp

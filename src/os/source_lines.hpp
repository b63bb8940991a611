// SPDX-License-Identifier: Apache-2.0
// Files and lines behind the locations in reports, by addr2line where it is installed.
#pragma once

#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Appends " at FILE:LINE" to each text that ends with "(MODULE+0xOFFSET)" (os/symbols.hpp), where
/// the module has debug information. Runs one process per module, which the caller's waits for
/// children do not see.
void add_source_lines(const std::vector<std::string *> &texts);

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Tables and pictures of an evaluation.
#pragma once

#include "record.hpp"

#include <iosfwd>

namespace bench::managers {

/// Where an observed program writes its counts over time.
[[nodiscard]] std::string counts_file(const std::string &folder, const std::string &app, const std::string &grain, const std::string &mode,
                                      int workers);
/// Tables of what there is of the studies of `o`, as Markdown; pictures go into the folder.
void write_report(std::ostream &to, const record &r, const options &o);

} // namespace bench::managers

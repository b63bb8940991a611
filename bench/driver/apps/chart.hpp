// SPDX-License-Identifier: Apache-2.0
// A picture of an application's curves: efficiency, and performance over the best seen, against task size.
#pragma once

#include "curves.hpp"

#include <iosfwd>

namespace bench::apps {

/// Writes SVG. `note` is below the title.
void write_chart(std::ostream &to, const std::string &title, const std::string &note,
                 const std::vector<curve> &all);

} // namespace bench::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record.hpp"
#include "subjects.hpp"

#include <iosfwd>

namespace bench::apps {

/// Writes NAME.csv and NAME.svg of one application to the record's folder; nothing when it has no
/// points.
void write_files(const record &r, const subject &s, int workers);
/// Writes Markdown: where curves fall through one half, what single parts of Weft contribute, and
/// the coarse size.
void write_tables(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                  int workers);
/// Writes Markdown: `#pragma oss` over the C++ API, at the finest and the coarse size.
void write_pragma_table(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                        int workers);

} // namespace bench::apps

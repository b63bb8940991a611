// SPDX-License-Identifier: Apache-2.0
// Tables and pictures of an evaluation.
#pragma once

#include "../apps/curves.hpp"
#include "record.hpp"

#include <iosfwd>

namespace bench::managers {

/// Returns the times of a mode over those of direct in the same runs of study pairs.
[[nodiscard]] apps::ratio against_direct(const record &r, const std::string &app,
                                         const std::string &grain, const std::string &mode,
                                         int workers);
/// Returns the file to which an observed program writes its counts over time.
[[nodiscard]] std::string counts_file(const std::string &folder, const std::string &app,
                                      const std::string &grain, const std::string &mode,
                                      int workers);
/// Writes tables of the measured studies of `o`, as Markdown; pictures go into the folder.
void write_report(std::ostream &to, const record &r, const options &o);
/// Replaces the text between the marks of a Markdown file, and copies the pictures into the folder
/// `managers` beside it. Throws std::runtime_error when the file has no marks or cannot be written.
void put_into_page(const std::string &page, const std::string &text, const std::string &folder);

} // namespace bench::managers

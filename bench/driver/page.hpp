// SPDX-License-Identifier: Apache-2.0
// Pages of which a command writes the part between two marks.
#pragma once

#include <string>

namespace bench {

/// Throws std::runtime_error, which names the marks, for a page that has none, or cannot be read.
void check_page(const std::string &page);
/// Replaces what is between the marks. Throws as check_page(), and when it cannot write.
void put_between_marks(const std::string &page, const std::string &text);
/// Creates a page of a heading and marks, unless it is there. Throws std::runtime_error.
void create_page(const std::string &page, const std::string &heading);

} // namespace bench

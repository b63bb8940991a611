// SPDX-License-Identifier: Apache-2.0
// What weft top shows of an interval: `now` at its end, and `spent`, the counts of the interval.
#pragma once

#include "observe/reading.hpp"

#include <set>
#include <string>

namespace weft_tool {

/// Returns the text, with at most `lines` lines where more workers exist than fit.
/// `asleep`: workers whose threads sleep in the kernel.
[[nodiscard]] std::string top_text(const weft::rt::reading &now, const weft::rt::reading &spent,
                                   const std::set<unsigned> &asleep, std::size_t lines);
/// Returns one line of JSON.
[[nodiscard]] std::string top_json(const weft::rt::reading &now, const weft::rt::reading &spent,
                                   const std::set<unsigned> &asleep);

/// Returns the same text for a terminal that shows colours.
[[nodiscard]] std::string coloured(const std::string &text);

} // namespace weft_tool

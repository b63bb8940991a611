// SPDX-License-Identifier: Apache-2.0
// What weft top shows of an interval: `now` at its end, `spent` what was counted in it.
#pragma once

#include "observe/reading.hpp"

#include <set>
#include <string>

namespace weft_tool {

/// At most `lines` lines where there are more workers than fit; all of the rest. `asleep`: workers whose threads sleep in the kernel.
[[nodiscard]] std::string top_text(const weft::rt::reading &now, const weft::rt::reading &spent, const std::set<unsigned> &asleep, std::size_t lines);
/// One line.
[[nodiscard]] std::string top_json(const weft::rt::reading &now, const weft::rt::reading &spent, const std::set<unsigned> &asleep);

/// The same text for a terminal that shows colours.
[[nodiscard]] std::string coloured(const std::string &text);

} // namespace weft_tool

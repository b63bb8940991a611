// SPDX-License-Identifier: Apache-2.0
// What weft top shows of an interval: `now` at its end, `spent` what was counted in it.
#pragma once

#include "observe/reading.hpp"

#include <string>

namespace weft_tool {

/// At most `lines` lines where there are more workers than fit; all of the rest.
[[nodiscard]] std::string top_text(const weft::rt::reading &now, const weft::rt::reading &spent, std::size_t lines);
/// One line.
[[nodiscard]] std::string top_json(const weft::rt::reading &now, const weft::rt::reading &spent);

/// The same text for a terminal that shows colours.
[[nodiscard]] std::string coloured(const std::string &text);

} // namespace weft_tool

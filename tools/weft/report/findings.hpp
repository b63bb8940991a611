// SPDX-License-Identifier: Apache-2.0
// The findings of a report, in sentences.
#pragma once

#include "tools/weft/report/data.hpp"

namespace weft_tool {

/// Returns sentences for the head of the report, beginning with the largest loss and its cause.
[[nodiscard]] std::vector<std::string> findings(const report_data &data);

} // namespace weft_tool

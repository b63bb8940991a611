// SPDX-License-Identifier: Apache-2.0
// What users read.
#pragma once

#include <string_view>

namespace weft_lpf {

/// Writes a line on standard error, whole.
void report(std::string_view line) noexcept;

} // namespace weft_lpf

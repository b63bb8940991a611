// SPDX-License-Identifier: Apache-2.0
// What users read.
#pragma once

#include <string>

namespace weft_lpf {

/// Writes a line on standard error, whole.
void report(const std::string &line) noexcept;

} // namespace weft_lpf

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace weft_net {

/// Returns the value of a setting that is a number, or a size in bytes.
[[nodiscard]] std::size_t number_of_setting(const char *key);
/// Returns the value of a setting that is a time; 0 for "off".
[[nodiscard]] std::chrono::microseconds time_of_setting(const char *key);

} // namespace weft_net

// SPDX-License-Identifier: Apache-2.0
// The setting tune.
#pragma once

#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

enum class tuning_mode { off, granularity, on, replay };

struct tuning_choice {
  tuning_mode mode = tuning_mode::granularity;
  std::string file; ///< of replay
};
/// Throws bad_setting that says what is allowed.
[[nodiscard]] tuning_choice parse_tuning(std::string_view text);

} // namespace rt
} // namespace weft::inline v0

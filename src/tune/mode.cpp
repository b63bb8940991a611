// SPDX-License-Identifier: Apache-2.0
#include "tune/mode.hpp"

#include "base/error.hpp"

namespace weft::inline v0 {
namespace rt {

tuning_choice parse_tuning(std::string_view text) {
  constexpr std::string_view k_replay = "replay:";
  if (text == "off")
    return {tuning_mode::off, ""};
  if (text == "granularity")
    return {tuning_mode::granularity, ""};
  if (text == "on")
    return {tuning_mode::on, ""};
  if (text.starts_with(k_replay) && text.size() > k_replay.size())
    return {tuning_mode::replay, std::string(text.substr(k_replay.size()))};
  throw_bad_setting("setting tune cannot be '" + std::string(text) +
                    "': it must be off, granularity, on, or replay:FILE");
}

} // namespace rt
} // namespace weft::inline v0

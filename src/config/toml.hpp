// SPDX-License-Identifier: Apache-2.0
// The part of TOML that settings need: tables, bare, quoted and dotted keys, strings, decimal numbers,
// booleans, comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct toml_entry {
  std::string key; ///< with its table: "sched.policy"
  std::string text; ///< the value without quotes, and without the underscores of a number
  int line = 0;
};

/// Throws weft::error (bad_setting) with a message that starts with "file:line: ".
std::vector<toml_entry> parse_toml(std::string_view text, const std::string &file);

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Conversions between the text of a setting and its field: one overload per type. A parser returns
// false and leaves the field alone if the text is not allowed.
#pragma once

#include "config/settings.hpp"

#include <type_traits>

namespace weft::inline v0 {
namespace rt {

bool parse_value(const setting_info &info, std::string_view text, bool &out);
bool parse_value(const setting_info &info, std::string_view text, int &out);
bool parse_value(const setting_info &info, std::string_view text, double &out);
bool parse_value(const setting_info &info, std::string_view text, std::uint64_t &out);
bool parse_value(const setting_info &info, std::string_view text, std::chrono::microseconds &out);
bool parse_value(const setting_info &info, std::string_view text, std::string &out);

std::string value_text(const setting_info &info, bool value);
std::string value_text(const setting_info &info, int value);
std::string value_text(const setting_info &info, double value);
std::string value_text(const setting_info &info, std::uint64_t value);
std::string value_text(const setting_info &info, std::chrono::microseconds value);
std::string value_text(const setting_info &info, const std::string &value);

std::vector<std::string_view> split_choices(std::string_view choices);
/// Returns the index of `text` among the choices ('-' and '_' are the same); -1 if it is none of
/// them.
int find_choice(const setting_info &info, std::string_view text);
/// Returns the candidate with the least edit distance to `word`; "" if none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view> &candidates);

template <class Choice>
  requires std::is_enum_v<Choice>
bool parse_value(const setting_info &info, std::string_view text, Choice &out) {
  const int index = find_choice(info, text);
  if (index >= 0)
    out = static_cast<Choice>(index);
  return index >= 0;
}

template <class Choice>
  requires std::is_enum_v<Choice>
std::string value_text(const setting_info &info, Choice value) {
  return std::string(split_choices(info.choices)[static_cast<std::size_t>(value)]);
}

/// Says what is allowed, such as "auto, or an integer from 1 to 1024".
std::string describe_allowed(const setting_info &info);

} // namespace rt
} // namespace weft::inline v0

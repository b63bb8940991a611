// SPDX-License-Identifier: Apache-2.0
#include "config/value.hpp"

#include "os/file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace weft::inline v0 {
namespace rt {

namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr unit k_byte_units[] = {{"TiB", 1ull << 40},
                                 {"GiB", 1ull << 30},
                                 {"MiB", 1ull << 20},
                                 {"KiB", 1ull << 10},
                                 {"T", 1ull << 40},
                                 {"G", 1ull << 30},
                                 {"M", 1ull << 20},
                                 {"K", 1ull << 10},
                                 {"B", 1},
                                 {"", 1}};
constexpr unit k_time_units[] = {{"s", 1'000'000}, {"ms", 1'000}, {"us", 1}, {"", 1}};

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char *end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

/// Parses a whole number with one of the units.
template <std::size_t N>
std::optional<std::uint64_t> parse_quantity(std::string_view text, const unit (&units)[N]) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_unsigned(text.substr(0, digits));
  const auto name = trim(text.substr(digits));
  const auto *found = std::find_if(units, units + N, [&](const unit &u) { return u.name == name; });
  if (!number || found == units + N || *number > UINT64_MAX / found->factor)
    return std::nullopt;
  return *number * found->factor;
}

/// Writes a number in the largest unit that leaves no fraction.
template <std::size_t N>
std::string quantity_text(std::uint64_t value, const unit (&units)[N], std::string_view smallest) {
  if (value != 0)
    for (const auto &u : units)
      if (!u.name.empty() && value % u.factor == 0)
        return std::to_string(value / u.factor) + std::string(u.name);
  return std::to_string(value) + std::string(smallest);
}

bool is_zero_word(const setting_info &info, std::string_view text) {
  return info.limit.zero_word != nullptr && text == info.limit.zero_word;
}

template <class Number>
bool in_range(const setting_info &info, Number value) {
  const auto v = static_cast<double>(value);
  return !info.limit.bounded || (v >= info.limit.least && v <= info.limit.most);
}

/// Parses what all numbers share: the word for zero, or a value within the range.
template <class Number, class Field>
bool accept(const setting_info &info, std::string_view text, const std::optional<Number> &parsed,
            Field &out) {
  if (is_zero_word(info, text)) {
    out = Field(0);
    return true;
  }
  if (!parsed || !in_range(info, *parsed))
    return false;
  out = Field(*parsed);
  return true;
}

std::string zero_word_or(const setting_info &info, bool is_zero, std::string otherwise) {
  return is_zero && info.limit.zero_word != nullptr ? info.limit.zero_word : otherwise;
}

std::string real_text(double value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

std::string range_text(const setting_info &info) {
  const auto bound = [&](double value) {
    const auto whole = static_cast<std::uint64_t>(value);
    switch (info.type) {
    case setting_type::bytes:
      return quantity_text(whole, k_byte_units, "");
    case setting_type::duration:
      return quantity_text(whole, k_time_units, "us");
    case setting_type::integer:
      return std::to_string(whole);
    default:
      return real_text(value);
    }
  };
  return info.limit.bounded ? " from " + bound(info.limit.least) + " to " + bound(info.limit.most)
                            : "";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

} // namespace

bool parse_value(const setting_info &, std::string_view text, bool &out) {
  const bool yes = text == "true" || text == "on" || text == "yes" || text == "1";
  if (!yes && text != "false" && text != "off" && text != "no" && text != "0")
    return false;
  out = yes;
  return true;
}

bool parse_value(const setting_info &info, std::string_view text, int &out) {
  return accept(info, text, parse_number<int>(text), out);
}

bool parse_value(const setting_info &info, std::string_view text, double &out) {
  const auto value = parse_number<double>(text);
  return (!value || std::isfinite(*value)) && accept(info, text, value, out);
}

bool parse_value(const setting_info &info, std::string_view text, std::uint64_t &out) {
  return accept(info, text, parse_quantity(text, k_byte_units), out);
}

bool parse_value(const setting_info &info, std::string_view text, std::chrono::microseconds &out) {
  return accept(info, text, parse_quantity(text, k_time_units), out);
}

bool parse_value(const setting_info &, std::string_view text, std::string &out) {
  out = text;
  return true;
}

std::string value_text(const setting_info &, bool value) { return value ? "true" : "false"; }

std::string value_text(const setting_info &info, int value) {
  return zero_word_or(info, value == 0, std::to_string(value));
}

std::string value_text(const setting_info &info, double value) {
  return zero_word_or(info, value == 0, real_text(value));
}

std::string value_text(const setting_info &info, std::uint64_t value) {
  return zero_word_or(info, value == 0, quantity_text(value, k_byte_units, ""));
}

std::string value_text(const setting_info &info, std::chrono::microseconds value) {
  const auto count = static_cast<std::uint64_t>(value.count());
  return zero_word_or(info, count == 0, quantity_text(count, k_time_units, "us"));
}

std::string value_text(const setting_info &, const std::string &value) { return value; }

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto bar = choices.find('|');
    out.push_back(choices.substr(0, bar));
    if (bar == std::string_view::npos)
      return out;
    choices.remove_prefix(bar + 1);
  }
}

int find_choice(const setting_info &info, std::string_view text) {
  const auto same = [](char a, char b) {
    return a == b || (a == '-' && b == '_') || (a == '_' && b == '-');
  };
  const auto choices = split_choices(info.choices);
  const auto found = std::find_if(choices.begin(), choices.end(), [&](std::string_view choice) {
    return std::equal(choice.begin(), choice.end(), text.begin(), text.end(), same);
  });
  return found == choices.end() ? -1 : static_cast<int>(found - choices.begin());
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view> &candidates) {
  // A third of the letters may be wrong; beyond that a guess does not help.
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string_view found;
  for (const auto candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string describe_allowed(const setting_info &info) {
  std::string out;
  if (info.limit.zero_word != nullptr)
    out = std::string(info.limit.zero_word) + ", or ";
  switch (info.type) {
  case setting_type::boolean:
    return out + "true or false";
  case setting_type::integer:
    return out + "an integer" + range_text(info);
  case setting_type::real:
    return out + "a number" + range_text(info);
  case setting_type::bytes:
    return out + "a size" + range_text(info) + " (units B, K, M, G, T of 1024)";
  case setting_type::duration:
    return out + "a duration" + range_text(info) + " (units us, ms, s)";
  case setting_type::text:
    return out + "any text";
  case setting_type::choice:
    break;
  }
  const char *separator = "one of ";
  for (const auto choice : split_choices(info.choices)) {
    out.append(separator).append(choice);
    separator = ", ";
  }
  return out;
}

} // namespace rt
} // namespace weft::inline v0

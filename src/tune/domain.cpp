// SPDX-License-Identifier: Apache-2.0
#include "tune/domain.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_most_listed = 16; // values that a message lists

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char *const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class List, class Text>
std::string listed(const List &all, Text text) {
  std::string out = "one of ";
  for (std::size_t i = 0; i < all.size() && i < k_most_listed; ++i)
    out += (i ? ", " : "") + text(all[i]);
  if (all.size() > k_most_listed)
    out += ", ... " + text(all.back()) + " (" + std::to_string(all.size()) + " values)";
  return out;
}

} // namespace

bool knob_domain::includes(std::int64_t value) const noexcept {
  switch (what) {
  case kind::range:
    return value >= least && value <= most;
  case kind::reals: {
    const auto real = std::bit_cast<double>(value);
    return real >= real_least && real <= real_most; // false for NaN
  }
  case kind::numbers:
    return std::binary_search(numbers.begin(), numbers.end(), value);
  case kind::words:
    return value >= 0 && static_cast<std::size_t>(value) < words.size();
  }
  return false;
}

std::optional<std::int64_t> knob_domain::parse(std::string_view text) const {
  std::optional<std::int64_t> value;
  if (what == kind::words) {
    const auto at = std::find(words.begin(), words.end(), text);
    if (at != words.end())
      value = at - words.begin();
  } else if (what == kind::reals) {
    if (const auto real = number_in<double>(text))
      value = std::bit_cast<std::int64_t>(*real);
  } else {
    value = number_in<std::int64_t>(text);
  }
  return value && includes(*value) ? value : std::nullopt;
}

std::string knob_domain::text(std::int64_t value) const {
  switch (what) {
  case kind::words:
    return words[static_cast<std::size_t>(value)];
  case kind::reals:
    return text_of(std::bit_cast<double>(value));
  case kind::range:
  case kind::numbers:
    break;
  }
  return std::to_string(value);
}

std::string knob_domain::allowed() const {
  switch (what) {
  case kind::range:
    return "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  case kind::reals:
    return "a number from " + text_of(real_least) + " to " + text_of(real_most);
  case kind::numbers:
    return listed(numbers, [](std::int64_t n) { return std::to_string(n); });
  case kind::words:
    return listed(words, [](const std::string &word) { return word; });
  }
  return "";
}

const char *knob_domain::type() const noexcept {
  return what == kind::reals ? "real" : what == kind::words ? "choice" : "int";
}

} // namespace rt
} // namespace weft::inline v0

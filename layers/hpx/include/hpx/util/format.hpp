// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: texts with numbered places.
#pragma once

#include <cctype>
#include <cstdio>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hpx::util {
namespace detail {

/// Returns a value as text, by a format of printf without its percent sign, or by operator<<.
template <class T>
std::string as_text(const T &value, const std::string &how) {
  std::ostringstream out;
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>) {
    if (!how.empty()) {
      const bool is_real =
          std::string_view("aAeEfFgG").find(how.back()) != std::string_view::npos ||
          (std::is_floating_point_v<T> &&
           std::string_view("diouxX").find(how.back()) == std::string_view::npos);
      char text[64];
      const bool has_kind = std::isalpha(static_cast<unsigned char>(how.back())) != 0;
      if (is_real)
        std::snprintf(text, sizeof text, ("%" + (has_kind ? how : how + "g")).c_str(),
                      static_cast<double>(value));
      else
        std::snprintf(text, sizeof text,
                      ("%" + (has_kind ? how.substr(0, how.size() - 1) : how) + "ll" +
                       (has_kind ? how.substr(how.size() - 1) : "d"))
                          .c_str(),
                      static_cast<long long>(value));
      return text;
    }
  }
  out << value;
  return out.str();
}

} // namespace detail

/// Replaces {1}, {2:.3} and {} by the arguments.
template <class... Args>
std::string format(std::string_view text, const Args &...args) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i != text.size(); ++i) {
    const auto end = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    if ((text[i] == '{' || text[i] == '}') && i + 1 != text.size() && text[i + 1] == text[i]) {
      out += text[i++];
      continue;
    }
    if (end == std::string_view::npos) {
      out += text[i];
      continue;
    }
    const std::string inside(text.substr(i + 1, end - i - 1));
    const auto colon = inside.find(':');
    const std::string number = inside.substr(0, colon),
                      how = colon == std::string::npos ? "" : inside.substr(colon + 1);
    const std::size_t which =
        number.empty() ? next++ : static_cast<std::size_t>(std::stoul(number)) - 1;
    std::size_t each = 0;
    ((each++ == which ? void(out += detail::as_text(args, how)) : void()), ...);
    i = end;
  }
  return out;
}
template <class... Args>
std::ostream &format_to(std::ostream &out, std::string_view text, const Args &...args) {
  return out << hpx::util::format(text, args...);
}

} // namespace hpx::util

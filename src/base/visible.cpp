// SPDX-License-Identifier: Apache-2.0
#include "base/visible.hpp"

namespace weft::inline v0 {
namespace rt {

std::size_t bytes_of_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&byte](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (text.empty())
    return 0;
  if (first < 0x80)
    return 1;
  if (first >= 0xc2 && first < 0xe0)
    return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) // E0 before A0 is overlong, ED from A0 on half of a pair
    return follows(1) && follows(2) && (first != 0xe0 || second >= 0xa0) &&
                   (first != 0xed || second < 0xa0)
               ? 3
               : 0;
  if (first >= 0xf0 && first < 0xf5) // F0 before 90 is overlong, F4 from 90 on beyond U+10FFFF
    return follows(1) && follows(2) && follows(3) && (first != 0xf0 || second >= 0x90) &&
                   (first != 0xf4 || second < 0x90)
               ? 4
               : 0;
  return 0;
}

bool is_control(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && character.size() > 1 && static_cast<unsigned char>(character[1]) < 0xa0);
}

std::string visible(std::string_view text) {
  constexpr char k_digits[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = bytes_of_character(text);
    const std::string_view one = text.substr(0, bytes ? bytes : 1);
    text.remove_prefix(one.size());
    if (bytes && !is_control(one)) {
      out += one;
      continue;
    }
    for (const char c : one) {
      const auto byte = static_cast<unsigned char>(c);
      (out += "\\x") += k_digits[byte >> 4];
      out += k_digits[byte & 15];
    }
  }
  return out;
}

} // namespace rt
} // namespace weft::inline v0

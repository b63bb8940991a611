// SPDX-License-Identifier: Apache-2.0
// Text that others have chosen, as what cannot change the screen that shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Returns how many bytes the first character of a text in UTF-8 has; 0 where no character begins.
[[nodiscard]] std::size_t bytes_of_character(std::string_view text) noexcept;
/// Says whether a character is one of control: C0, DEL or C1.
[[nodiscard]] bool is_control(std::string_view character) noexcept;
/// Returns a text in which control characters, line ends among them, and bytes that are no UTF-8 are
/// escaped, as in "\x1b".
[[nodiscard]] std::string visible(std::string_view text);

} // namespace rt
} // namespace weft::inline v0

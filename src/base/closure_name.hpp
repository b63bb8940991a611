// SPDX-License-Identifier: Apache-2.0
// The compiler's name of a closure, in the signature of a function template: "... [with F =
// main()::<lambda()>]".
#pragma once

#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Returns the closure's name; empty if the signature is null or names none.
[[nodiscard]] inline std::string_view closure_in(const char *signature) noexcept {
  const std::string_view all = signature ? signature : "";
  const std::size_t at = all.find("F = ");
  return at == std::string_view::npos ? std::string_view{}
                                      : all.substr(at + 4, all.size() - at - 5);
}

} // namespace rt
} // namespace weft::inline v0

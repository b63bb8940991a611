// SPDX-License-Identifier: Apache-2.0
// The compiler's name of a closure, in the signature of a function template: "... [with F =
// main()::<lambda()>]".
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Returns the template argument of this number; empty if the type has fewer.
[[nodiscard]] inline std::string_view template_argument(std::string_view type,
                                                        std::size_t number) noexcept {
  const std::size_t open = type.find('<');
  if (open == std::string_view::npos)
    return {};
  std::size_t depth = 0, from = open + 1;
  for (std::size_t i = from; i != type.size(); ++i) {
    const char c = type[i];
    const bool ends = depth == 0 && (c == ',' || c == '>');
    if (ends && number == 0) {
      std::string_view found = type.substr(from, i - from);
      while (found.ends_with(' '))
        found.remove_suffix(1);
      return found;
    }
    if (ends && c == '>')
      return {};
    if (ends) {
      --number;
      from = i + 2; // ", "
    } else if (c == '<' || c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (depth-- == 0)
        return {};
    }
  }
  return {};
}

/// Returns the callable of the user that a callable of this library holds, or what it was given.
[[nodiscard]] inline std::string_view users_callable(std::string_view closure) noexcept {
  struct wrapper {
    std::string_view name;
    std::size_t argument;
  };
  constexpr wrapper k_wrappers[] = {{"bound_call<", 0},
                                    {"continuation<", 1},
                                    {"data_call<", 0},
                                    {"waiting_call<", 0},
                                    {"boxed<", 0},
                                    {"measured_call<", 0}};
  for (;;) {
    std::string_view bare = closure;
    for (const std::string_view space : {"weft::", "v0::", "detail::"})
      if (bare.starts_with(space))
        bare.remove_prefix(space.size());
    std::string_view held;
    for (const wrapper &w : k_wrappers)
      if (bare.starts_with(w.name))
        held = template_argument(bare, w.argument);
    if (held.empty())
      return bare.starts_with("begun_coroutine<") ? std::string_view("coroutine") : closure;
    closure = held;
  }
}

/// Returns the name of the user's closure; empty if the signature is null or names none.
[[nodiscard]] inline std::string_view closure_in(const char *signature) noexcept {
  const std::string_view all = signature ? signature : "";
  const std::size_t at = all.find("F = ");
  return at == std::string_view::npos ? std::string_view{}
                                      : users_callable(all.substr(at + 4, all.size() - at - 5));
}

} // namespace rt
} // namespace weft::inline v0

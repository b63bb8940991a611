// SPDX-License-Identifier: Apache-2.0
// The names of the parameters and other variables of functions, by the tokens of their declarations where no parser has been.
#pragma once

#include <clang/Basic/TokenKinds.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weft_oss {

/// A token, or a bracket with what is inside.
struct raw_word {
  clang::tok::TokenKind kind = clang::tok::unknown;
  std::string text{};
  std::vector<raw_word> inside{};

  [[nodiscard]] bool is(clang::tok::TokenKind one) const { return kind == one; }
  [[nodiscard]] bool is_name() const { return kind == clang::tok::raw_identifier; }
  [[nodiscard]] bool is_any(std::initializer_list<std::string_view> all) const { return std::ranges::find(all, text) != all.end(); }
  [[nodiscard]] clang::tok::TokenKind first() const { return inside.empty() ? clang::tok::unknown : inside.front().kind; }
  /// Returns the first name inside.
  [[nodiscard]] std::string name() const {
    for (const raw_word &each : inside)
      if (const std::string found = each.is_name() ? each.text : each.name(); !found.empty())
        return found;
    return {};
  }
};
using words = std::vector<raw_word>;

/// Adds the names of parameters.
void add_parameters(const words &inside, std::vector<std::string> &names);
/// Adds those that the brackets of a lambda begin: [name = value], [name{value}], [&name(value)].
void add_captures(const words &inside, std::vector<std::string> &names);
/// Adds those of a declaration in a block; an expression declares none.
void add_local(const words &statement, bool is_condition, std::vector<std::string> &names);
/// Adds those of what is in the brackets of a `for`, an `if` and the like.
void add_of_head(const raw_word &key, const words &inside, std::vector<std::string> &names);
/// Returns the index of the key word of a head of a statement whose bracket is at `bracket`, or the size.
std::size_t key_of_head(const words &all, std::size_t bracket);
/// Leaves out what a statement may begin with: heads of others, and labels.
words without_prefix(const words &all);

} // namespace weft_oss

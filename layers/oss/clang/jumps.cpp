// SPDX-License-Identifier: Apache-2.0
#include "jumps.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <set>

namespace weft_oss {

using namespace clang;

namespace {

/// Walks through a statement. Bodies of lambdas and of local classes are functions of their own.
class walker {
 public:
  walker(Preprocessor &preprocessor, const tokens &statement, const std::string &pragma,
         bool body_of_loop)
      : pp(preprocessor), all(statement), name(pragma), m_in_loop(body_of_loop) {
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (all[i].is(tok::identifier) && all[i + 1].is(tok::colon))
        m_labels.insert(all[i].getIdentifierInfo());
  }
  bool run() {
    for (std::size_t i = 0; i < all.size();)
      i = statement(i, false, false);
    return m_right;
  }

 private:
  void leaves(const Token &token, const char *word) {
    m_right = false;
    report_error(pp, token.getLocation(),
                 std::string("'") + word + "' leaves the statement of " + name);
  }
  void suspends(const Token &token) {
    m_right = false;
    report_error(pp, token.getLocation(),
                 "'" + spelling(pp, token) + "' in the statement of " + name +
                     " is not possible: coroutines are no tasks, and a task that waits or blocks gives its worker away without them");
  }
  [[nodiscard]] bool is(std::size_t i, tok::TokenKind kind) const {
    return i < all.size() && all[i].is(kind);
  }
  std::size_t brackets(std::size_t i) { // (...) of a loop: expressions
    const std::size_t end = closing(all, i);
    expression(i + 1, end);
    return end + 1;
  }

  /// Looks for lambdas and statement expressions, whose statements it skips and walks.
  void expression(std::size_t i, std::size_t end, bool loop = false, bool choice = false) {
    for (; i < end && i < all.size(); ++i) {
      if (all[i].is(tok::l_square) && begins_lambda(i)) {
        i = closing(all, i) + 1;
        while (i < end && !all[i].isOneOf(tok::l_brace, tok::semi, tok::comma))
          i = all[i].is(tok::l_paren) ? closing(all, i) + 1 : i + 1;
        if (is(i, tok::l_brace))
          i = closing(all, i);
      } else if (all[i].is(tok::l_paren) && is(i + 1, tok::l_brace)) { // ({ ... })
        statement(i + 1, loop, choice);
        i = closing(all, i);
      } else if (all[i].isOneOf(tok::kw_co_await, tok::kw_co_yield)) {
        suspends(all[i]);
      }
    }
  }
  /// Returns whether a [ is that of a lambda, and not of an index or an attribute.
  [[nodiscard]] bool begins_lambda(std::size_t i) const {
    if (is(i + 1, tok::l_square) || !pp.getLangOpts().CPlusPlus)
      return false;
    if (i == 0)
      return true;
    const Token &before = all[i - 1];
    return !before.isOneOf(tok::identifier, tok::r_paren, tok::r_square, tok::kw_this,
                           tok::string_literal, tok::l_square, tok::kw_delete);
  }

  /// Walks through one statement from `i` on, and returns what follows it.
  std::size_t statement(std::size_t i, bool loop, bool choice) {
    i = behind_prefix(all, i);
    if (i >= all.size())
      return i;
    const Token &t = all[i];
    switch (t.getKind()) {
    case tok::l_brace: {
      const std::size_t end = closing(all, i);
      for (++i; i < end;)
        i = statement(i, loop, choice);
      return end + 1;
    }
    case tok::kw_for:
    case tok::kw_while:
      return statement(brackets(i + 1), true, choice);
    case tok::kw_switch:
      return statement(brackets(i + 1), loop, true);
    case tok::kw_do:
      i = statement(i + 1, true, choice);
      break; // while (...);
    case tok::kw_if:
      while (i < all.size() && !all[i].isOneOf(tok::l_paren, tok::l_brace))
        ++i;
      i = statement(is(i, tok::l_paren) ? brackets(i) : i, loop, choice);
      return is(i, tok::kw_else) ? statement(i + 1, loop, choice) : i;
    case tok::kw_try:
      i = statement(i + 1, loop, choice);
      while (is(i, tok::kw_catch))
        i = statement(closing(all, i + 1) + 1, loop, choice);
      return i;
    case tok::annot_pragma_captured: // the statement of a task, which its pragma has checked
      return closing(all, i + 1) + 1;
    case tok::kw_co_return:
      suspends(t);
      break;
    case tok::kw_return:
      leaves(t, "return");
      break;
    case tok::kw_break:
      if (!loop && !choice)
        leaves(t, "break");
      break;
    case tok::kw_continue:
      if (!loop && !m_in_loop)
        leaves(t, "continue");
      break;
    case tok::kw_goto:
      if (is(i + 1, tok::identifier) && !m_labels.contains(all[i + 1].getIdentifierInfo()))
        leaves(t, "goto");
      break;
    case tok::kw_case:
    case tok::kw_default:
      while (i < all.size() && !all[i].isOneOf(tok::colon, tok::semi))
        ++i;
      return statement(i + 1, loop, choice);
    case tok::kw_class:
    case tok::kw_struct:
    case tok::kw_union:
    case tok::kw_enum:
      for (; i < all.size() && !all[i].isOneOf(tok::l_brace, tok::semi, tok::equal);)
        i = all[i].is(tok::l_paren) ? closing(all, i) + 1 : i + 1;
      if (is(i, tok::l_brace))
        i = closing(all, i) + 1;
      break;
    default:
      break;
    }
    // The rest is an expression or a declaration, up to its semicolon.
    const std::size_t from = i;
    while (i < all.size() && all[i].isNot(tok::semi)) {
      if (all[i].is(tok::r_brace))
        break;
      i = all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace) ? closing(all, i) + 1 : i + 1;
    }
    expression(from, i, loop, choice);
    return is(i, tok::semi) ? i + 1 : std::max(i, from + 1);
  }

  Preprocessor &pp;
  const tokens &all;
  const std::string &name;
  std::set<const IdentifierInfo *> m_labels;
  const bool m_in_loop; // all of it
  bool m_right = true;
};

} // namespace

bool check_jumps(Preprocessor &pp, const tokens &statement, const std::string &pragma,
                 bool body_of_loop) {
  return walker(pp, statement, pragma, body_of_loop).run();
}

} // namespace weft_oss

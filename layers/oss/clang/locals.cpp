// SPDX-License-Identifier: Apache-2.0
#include "locals.hpp"

#include <iterator>
#include <utility>

namespace weft_oss {

using namespace clang;

namespace {

words part_of(const words &all, std::size_t from, std::size_t to) {
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(from, to)), all.begin() + static_cast<std::ptrdiff_t>(to)};
}
std::vector<words> split_words(const words &all, tok::TokenKind at) {
  std::vector<words> parts(1);
  for (const raw_word &each : all)
    if (each.is(at))
      parts.emplace_back();
    else
      parts.back().push_back(each);
  return parts;
}
/// Leaves out the template arguments: what is between `<` behind a name and `>`, and assigns nothing.
words without_arguments(const words &all) {
  static constexpr tok::TokenKind k_assigns[] = {tok::equal, tok::plusequal, tok::minusequal, tok::starequal, tok::slashequal, tok::percentequal, tok::ampequal,
                                                 tok::pipeequal, tok::caretequal, tok::lesslessequal, tok::greatergreaterequal, tok::plusplus, tok::minusminus};
  const auto behind = [&](std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < all.size(); ++i) {
      const tok::TokenKind kind = all[i].kind;
      depth += kind == tok::less ? 1 : kind == tok::greater ? -1 : kind == tok::greatergreater ? -2 : 0;
      if (depth <= 0)
        return i + 1;
      if (std::ranges::find(k_assigns, kind) != std::end(k_assigns))
        break;
    }
    return open;
  };
  words result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t end = all[i].is(tok::less) && i > 0 && all[i - 1].is_name() ? behind(i) : i;
    if (end > i)
      i = end - 1;
    else
      result.push_back(all[i]);
  }
  return result;
}
/// Adds the names that a declarator declares: what is behind words of a type alone, and in front of the value. That of a condition must have a value.
void add_declared(const words &part, bool has_type, bool is_condition, std::vector<std::string> &names) {
  std::size_t i = 0, found = part.size();
  bool in_type = !has_type, is_auto = false, is_of_language = false;
  for (; i < part.size(); ++i) {
    const raw_word &now = part[i];
    if (now.is_name()) {
      if (now.is_any({"return", "goto", "break", "continue", "throw", "delete", "new", "co_return", "co_yield", "co_await", "using", "typedef", "template",
                      "friend", "namespace", "static_assert", "asm", "sizeof", "operator", "this", "not", "extern"}))
        return;
      is_auto |= now.is_any({"auto"});
      is_of_language |= now.is_any({"auto", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "const"});
      found = in_type && (i == 0 || !part[i - 1].is(tok::coloncolon)) ? i : part.size();
      in_type = true;
    } else if (now.is(tok::coloncolon) || now.is(tok::ellipsis) || (in_type && (now.is(tok::star) || now.is(tok::amp) || now.is(tok::ampamp)))) {
      found = part.size();
    } else {
      break;
    }
  }
  const auto is = [&](std::size_t at, tok::TokenKind kind) { return at < part.size() && part[at].is(kind); };
  const auto begins = [&](std::size_t at) { return is(at, tok::equal) || is(at, tok::l_brace); };
  if (is(i, tok::l_square) && is_auto && found == part.size()) { // auto [a, b] = ...
    for (const raw_word &each : part[i].inside)
      if (each.is_name())
        names.push_back(each.text);
  } else if (is(i, tok::l_paren) && found == part.size() && in_type && !part[i].name().empty() &&
             (is(i + 1, tok::l_paren) || is(i + 1, tok::l_square) || (is_of_language && (i + 1 == part.size() || begins(i + 1) || is(i + 1, tok::colon)))) &&
             (part[i].first() == tok::star || part[i].first() == tok::amp || part[i].first() == tok::ampamp)) { // int (*p)(int), int (&r) = k
    names.push_back(part[i].name());
  } else if (found < part.size() && (is_condition ? begins(i)
                                                  : i == part.size() || begins(i) || is(i, tok::l_square) || is(i, tok::l_paren) || is(i, tok::colon))) {
    names.push_back(part[found].text);
  }
}

} // namespace

void add_parameters(const words &inside, std::vector<std::string> &names) {
  for (const words &each : split_words(without_arguments(inside), tok::comma))
    add_declared(each, true, false, names);
}
void add_captures(const words &inside, std::vector<std::string> &names) {
  for (const words &each : split_words(inside, tok::comma)) {
    std::size_t i = 0;
    while (i < each.size() && (each[i].is(tok::amp) || each[i].is(tok::ellipsis)))
      ++i;
    if (i + 1 < each.size() && each[i].is_name() && (each[i + 1].is(tok::equal) || each[i + 1].is(tok::l_paren) || each[i + 1].is(tok::r_brace)))
      names.push_back(each[i].text);
  }
}
void add_local(const words &statement, bool is_condition, std::vector<std::string> &names) {
  bool first = true;
  const std::size_t before = names.size();
  for (const words &each : split_words(without_arguments(statement), tok::comma)) {
    add_declared(each, first, is_condition, names);
    if (std::exchange(first, false) && names.size() == before)
      return;
  }
}
void add_of_head(const raw_word &key, const words &inside, std::vector<std::string> &names) {
  if (key.is_any({"catch"}))
    return add_parameters(inside, names);
  const std::vector<words> parts = split_words(inside, tok::semi);
  const bool is_for = key.is_any({"for"});
  const std::size_t declares = is_for && parts.size() > 2 ? 1 : parts.size(); // for (first; condition; step)
  for (std::size_t i = 0; i < declares; ++i)
    add_local(parts[i], !is_for && i + 1 == declares, names);
}
std::size_t key_of_head(const words &all, std::size_t bracket) {
  const std::size_t key = bracket > 1 && all[bracket - 1].is_any({"constexpr"}) ? bracket - 2 : bracket - 1;
  return bracket > 0 && bracket < all.size() && all[bracket].is(tok::l_paren) && all[key].is_any({"for", "if", "while", "switch", "catch"}) ? key
                                                                                                                                          : all.size();
}
words without_prefix(const words &all) {
  std::size_t i = 0;
  const auto is = [&](std::size_t at, tok::TokenKind kind) { return at < all.size() && all[at].is(kind); };
  while (i < all.size()) {
    const auto bracket = static_cast<std::size_t>(std::ranges::find_if(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(), [](const raw_word &each) {
                                                    return each.is(tok::l_paren);
                                                  }) - all.begin());
    if (all[i].is_any({"else", "do"}))
      ++i;
    else if (key_of_head(all, bracket) == i)
      i = bracket + 1;
    else if (all[i].is_any({"case"}))
      while (i < all.size() && !is(i++, tok::colon)) {
      }
    else if (is(i + 1, tok::colon))
      i += 2;
    else
      break;
  }
  return part_of(all, i, all.size());
}

} // namespace weft_oss

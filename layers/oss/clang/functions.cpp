// SPDX-License-Identifier: Apache-2.0
#include "functions.hpp"

#include <clang/Basic/IdentifierTable.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <initializer_list>

namespace weft_oss {

using namespace clang;

namespace {

/// Says where a place in a file is: in a class, in extern "C" { }, in a function. Reads the file from its
/// beginning, because the handler of a pragma cannot ask the parser.
struct surroundings {
  bool in_class = false, c_linkage = false, in_function = false;
};
surroundings surroundings_of(Preprocessor &pp, SourceLocation where) {
  const SourceManager &sources = pp.getSourceManager();
  const auto [file, offset] = sources.getDecomposedExpansionLoc(where);
  const llvm::StringRef text = sources.getBufferData(file);
  Lexer raw(SourceLocation(), pp.getLangOpts(), text.begin(), text.begin(), text.end());
  enum class scope : std::uint8_t { function, a_class, c_linkage, a_namespace };
  std::vector<scope> open;
  std::vector<std::vector<scope>> conditions; // of #if: each branch begins alike
  bool has_key = false, after_enum = false, has_linkage = false, has_namespace = false;
  int brackets = 0, angles = 0;
  bool in_template = false;
  tok::TokenKind last = tok::semi;
  const auto begin_declaration = [&] {
    has_key = after_enum = has_linkage = has_namespace = in_template = false;
    angles = 0;
  };
  for (Token token;;) {
    raw.LexFromRawLexer(token);
    const auto at = static_cast<unsigned>(raw.getBufferLocation() - text.begin());
    if (token.is(tok::eof) || at > offset)
      break;
    if (token.is(tok::hash) && token.isAtStartOfLine()) {
      raw.LexFromRawLexer(token);
      const llvm::StringRef word =
          token.is(tok::raw_identifier) ? token.getRawIdentifier() : llvm::StringRef();
      if (word == "if" || word == "ifdef" || word == "ifndef")
        conditions.push_back(open);
      else if ((word == "else" || word == "elif") && !conditions.empty())
        open = conditions.back();
      else if (word == "endif" && !conditions.empty())
        conditions.pop_back();
      raw.setParsingPreprocessorDirective(true); // the rest of the line
      while (token.isNot(tok::eod) && token.isNot(tok::eof))
        raw.LexFromRawLexer(token);
      continue;
    }
    switch (token.getKind()) {
    case tok::l_paren:
    case tok::l_square:
      ++brackets;
      break;
    case tok::r_paren:
    case tok::r_square:
      --brackets;
      break;
    case tok::less:
      angles += in_template ? 1 : 0;
      break;
    case tok::greater:
    case tok::greatergreater:
      if (in_template && (angles -= token.is(tok::greater) ? 1 : 2) <= 0)
        in_template = false;
      break;
    case tok::semi:
      if (brackets == 0)
        begin_declaration();
      break;
    case tok::string_literal:
      has_linkage = true;
      break;
    case tok::l_brace:
      open.push_back(has_key && last != tok::r_paren && last != tok::equal ? scope::a_class
                     : has_linkage && last == tok::string_literal          ? scope::c_linkage
                     : has_namespace                                       ? scope::a_namespace
                                                                           : scope::function);
      begin_declaration();
      break;
    case tok::r_brace:
      if (!open.empty())
        open.pop_back();
      begin_declaration();
      break;
    case tok::raw_identifier: {
      const llvm::StringRef word = token.getRawIdentifier();
      if (word == "template")
        in_template = true;
      else if (!in_template && brackets == 0 &&
               (word == "class" || word == "struct" || word == "union"))
        has_key = !after_enum;
      after_enum = word == "enum";
      has_namespace = has_namespace || word == "namespace";
      break;
    }
    default:
      break;
    }
    last = token.getKind();
  }
  surroundings result;
  result.in_class = !open.empty() && open.back() == scope::a_class;
  result.c_linkage = std::ranges::find(open, scope::c_linkage) != open.end();
  result.in_function = std::ranges::find(open, scope::function) != open.end();
  return result;
}

/// Returns the index behind the `>` that closes the `<` at `open`, or the one behind `open` if that compares: then nothing closes
/// it, or what does is beyond the `=` of a later default argument.
std::size_t behind_angles(const tokens &all, std::size_t open) {
  const bool is_template = open > 0 && all[open - 1].is(tok::kw_template); // its parameters may have default arguments
  int depth = 0;
  for (std::size_t i = open; i < all.size(); ++i) {
    if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
      i = closing(all, i);
    else if (all[i].is(tok::equal) && !is_template)
      break;
    else if (all[i].is(tok::less))
      depth += i > open && compares(all, open, i) ? 0 : 1;
    else if (all[i].isOneOf(tok::greater, tok::greatergreater) &&
             (depth -= all[i].is(tok::greater) ? 1 : 2) <= 0)
      return i + 1;
  }
  return open + 1;
}

/// Returns the index behind the token at `i`, or behind the bracket that it opens, <> included.
std::size_t behind(const tokens &all, std::size_t i) {
  if (all[i].is(tok::less))
    return behind_angles(all, i);
  return all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace) ? std::min(closing(all, i) + 1, all.size()) : i + 1;
}

/// Returns the index of the first token from `i` on that is in no bracket and is one of these kinds, or the size.
std::size_t find_outside(const tokens &all, std::size_t i, std::initializer_list<tok::TokenKind> kinds) {
  while (i < all.size() && std::ranges::find(kinds, all[i].getKind()) == kinds.end())
    i = behind(all, i);
  return i;
}

/// Returns what lies between commas that are in no bracket, <> included.
std::vector<tokens> split_declarators(const tokens &all) {
  std::vector<tokens> parts;
  for (std::size_t begin = 0, end = 0; end < all.size() || parts.empty(); begin = end + 1) {
    end = find_outside(all, begin, {tok::comma});
    parts.push_back(slice(all, begin, end));
  }
  return parts;
}

bool is_qualifier(const Token &token) {
  return token.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_restrict, tok::kw__Atomic, tok::kw_register,
                       tok::kw__Nonnull, tok::kw__Nullable, tok::kw__Null_unspecified);
}

/// Returns the index behind the constraint of a `requires` at `i`: operands between && and ||.
std::size_t behind_constraint(const tokens &all, std::size_t i) {
  const auto is = [&](tok::TokenKind kind) { return i < all.size() && all[i].is(kind); };
  const auto brackets = [&](tok::TokenKind open) {
    if (is(open))
      i = std::min(closing(all, i) + 1, all.size());
  };
  do {
    ++i; // the word, or the operator
    if (is(tok::kw_requires)) {
      ++i;
      brackets(tok::l_paren);
      brackets(tok::l_brace);
    } else if (is(tok::l_paren)) {
      brackets(tok::l_paren);
    } else {
      bool name = false; // an operand that ends with a name is followed by none
      while (i < all.size() && all[i].isOneOf(tok::identifier, tok::coloncolon, tok::less, tok::kw_true, tok::kw_false, tok::kw_template)) {
        if (all[i].isOneOf(tok::identifier, tok::kw_true, tok::kw_false)) {
          if (name)
            break;
          name = true;
        } else if (all[i].isNot(tok::less)) {
          name = false;
        }
        i = is(tok::less) ? behind_angles(all, i) : i + 1;
      }
    }
  } while (is(tok::ampamp) || is(tok::pipepipe));
  return i;
}

class function_parser {
 public:
  function_parser(Preprocessor &preprocessor, const pragma &of, const tokens &tokens_of,
                  SourceLocation pragma)
      : pp(preprocessor), parsed(of), all(tokens_of), name(pragma_name(*of.directive)),
        m_place(pragma) {}

  std::optional<function_head> run() {
    for (const clause_id id :
         {clause_id::shared, clause_id::private_, clause_id::firstprivate, clause_id::default_})
      if (parsed.has(id))
        return refuse(m_place, "clause " + quoted(row(id).name) +
                                   " does not belong to a task on a function: its parameters say "
                                   "what is copied");
    std::size_t at = 0;
    while (at < all.size() && all[at].is(tok::kw_template)) {
      const std::size_t end = behind_angles(all, at + 1);
      tokens parameters_of = slice(all, at, end);
      if (parameters_of.back().is(tok::greatergreater)) { // the first half closes a default argument
        parameters_of.back().setKind(tok::greater);
        parameters_of.back().setLength(1);
        parameters_of.push_back(parameters_of.back());
      }
      if (!template_parameters(parameters_of))
        return {};
      at = end < all.size() && all[end].is(tok::kw_requires) ? behind_constraint(all, end) : end;
      const tokens plain = without_defaults(parameters_of), constraint = slice(all, end, at);
      head.templates.insert(head.templates.end(), parameters_of.begin(), parameters_of.end());
      head.templates.insert(head.templates.end(), constraint.begin(), constraint.end());
      head.before_body.insert(head.before_body.end(), plain.begin(), plain.end());
      head.before_body.insert(head.before_body.end(), constraint.begin(), constraint.end());
    }
    const std::size_t begin = at;
    std::size_t open = at; // the bracket of the parameters
    while (open < all.size() && (all[open].isNot(tok::l_paren) || is_attribute(open)))
      open = all[open].is(tok::l_paren) ? closing(all, open) + 1 : open + 1;
    if (open + 1 >= all.size() || open == begin)
      return refuse(all[0].getLocation(), name + " has no statement behind it");
    tokens front = slice(all, begin, open);
    front.resize(std::max<std::size_t>(in_front_of_attributes(front), 1)); // void f [[...]] (int *p)
    for (const Token &token : front)
      if (token.is(tok::kw_operator) || token.is(tok::tilde))
        return refuse(token.getLocation(),
                      name + " on an operator, a constructor or a destructor is not possible: give "
                             "a function that returns void");
    head.name = front.back();
    if (front.size() > 1 && front[front.size() - 2].is(tok::coloncolon))
      return refuse(head.name.getLocation(),
                    name + " on a definition outside of its class or namespace is not possible: "
                           "write the pragma at the declaration inside");
    tokens type;
    for (std::size_t i = 0; i + 1 < front.size(); ++i) {
      const Token &token = front[i];
      if (token.isOneOf(tok::kw_virtual, tok::kw_friend))
        return refuse(token.getLocation(), name + " on a " + spelling(pp, token) +
                                               " function is not possible: a call may reach "
                                               "another function");
      if (token.is(tok::kw_static))
        head.is_static = true;
      else if (token.is(tok::string_literal))
        head.c_linkage = true;
      else if (token.is(tok::l_square) || token.is(tok::kw___attribute))
        i = closing(front, token.is(tok::l_square) ? i : i + 1);
      else if (!token.isOneOf(tok::kw_inline, tok::kw_extern, tok::kw_constexpr))
        type.push_back(token);
    }
    const std::size_t close = closing(all, open);
    const auto arrow = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(std::min(close, all.size())), all.end(), [](const Token &token) {
      return token.isOneOf(tok::arrow, tok::l_brace, tok::semi, tok::equal);
    });
    const auto behind_arrow = static_cast<std::size_t>(arrow - all.begin()) + 1;
    const bool returns_void = type.size() == 1 && (type[0].is(tok::kw_void) ||
                                                   (type[0].is(tok::kw_auto) && arrow != all.end() && arrow->is(tok::arrow) &&
                                                    behind_arrow + 1 < all.size() && all[behind_arrow].is(tok::kw_void) &&
                                                    all[behind_arrow + 1].isOneOf(tok::l_brace, tok::semi, tok::kw_requires)));
    tokens returned = slice(all, behind_arrow, find_outside(all, behind_arrow, {tok::l_brace, tok::semi}));
    returned.insert(returned.end(), type.begin(), type.end());
    for (const Token &token : returned)
      if (word(token) == "oss_coroutine")
        return refuse(token.getLocation(),
                      name + " on a coroutine ('oss_coroutine') is not possible: return void; a task that waits or "
                             "blocks gives its worker away without it");
    if (!returns_void)
      return refuse(head.name.getLocation(),
                    name + " on a function that returns a value is not possible: nothing would "
                           "wait for the value; return void, and write through a pointer");
    if (!parameters(slice(all, open + 1, close)))
      return {};
    std::size_t i = close + 1;
    for (; i < all.size() && all[i].isOneOf(tok::kw_const, tok::kw_volatile, tok::amp, tok::ampamp);
         ++i)
      head.qualifiers.push_back(all[i]);
    const std::size_t requirement = find_outside(all, i, {tok::kw_requires, tok::l_brace, tok::semi, tok::equal});
    const bool is_required = requirement < all.size() && all[requirement].is(tok::kw_requires);
    const std::size_t end = is_required ? behind_constraint(all, requirement) : requirement;
    head.constraint = slice(all, requirement, end);
    for (std::size_t k = i; k < requirement; k = behind(all, k)) {
      if (all[k].is(tok::comma))
        return refuse(all[k].getLocation(),
                      name + " is on one function; declare the others by declarations of their own");
      if (word(all[k]) == "override" || word(all[k]) == "final")
        return refuse(all[k].getLocation(), name + " on a virtual function is not possible: a call "
                                                   "may reach another function");
    }
    if (end == all.size() || all[end].is(tok::equal))
      return refuse(head.name.getLocation(),
                    name + " on a function without a body of its own is not possible");
    for (const item &it : parsed.items)
      if (it.mode == clause_id::reduction && it.base &&
          std::ranges::none_of(head.parameters, [&](const parameter &p) {
            return p.name == it.base->getIdentifierInfo()->getName();
          }))
        return refuse(it.where, "an item of a reduction of a task function must begin with a "
                                "parameter: the function would not find the copy of '" +
                                    it.base->getIdentifierInfo()->getName().str() + "'");
    if (all[end].is(tok::l_brace))
      head.body = slice(all, end, all.size());
    // A definition behind the declaration repeats no default argument.
    const tokens rest = slice(all, begin, open + 1);
    head.before_body.insert(head.before_body.end(), rest.begin(), rest.end());
    for (std::size_t k = 0; k < head.parameters.size(); ++k) {
      if (k > 0)
        head.before_body.push_back(m_commas[k - 1]);
      const tokens &declared = head.parameters[k].declared;
      head.before_body.insert(head.before_body.end(), declared.begin(), declared.end());
    }
    const tokens behind = slice(all, close, end);
    head.before_body.insert(head.before_body.end(), behind.begin(), behind.end());
    const surroundings around = surroundings_of(pp, m_place);
    head.in_class = around.in_class;
    head.c_linkage = (head.c_linkage || around.c_linkage) && !head.in_class;
    return head;
  }

 private:
  std::optional<function_head> refuse(SourceLocation where, const std::string &text) {
    report_error(pp, where, text);
    return {};
  }
  [[nodiscard]] bool is_attribute(std::size_t open) const {
    return open > 0 && all[open - 1].is(tok::kw___attribute);
  }
  /// Names the parameters of `template < ... >` that have no name, because a call must pass all.
  bool template_parameters(tokens &templates) {
    head.template_arguments.clear();
    const tokens list = slice(templates, 2, templates.size() - 1);
    tokens named = slice(templates, 0, 2);
    for (std::size_t begin = 0; begin < list.size();) {
      const std::size_t end = find_outside(list, begin, {tok::comma});
      const tokens part = slice(list, begin, end);
      const std::size_t sign = find_outside(part, 0, {tok::equal});
      parameter one;
      one.declared = slice(part, 0, sign);
      const std::size_t at = find_template_name(one); // or where one would be
      if (at > one.declared.size()) {
        refuse(part.empty() ? templates[0].getLocation() : part[0].getLocation(), name + " needs the names of the template's parameters");
        return false;
      }
      named.insert(named.end(), one.declared.begin(), one.declared.begin() + static_cast<std::ptrdiff_t>(at));
      if (one.name.empty()) {
        one.name = "weft_oss_argument_" + std::to_string(begin);
        Token name = templates[0];
        name.setKind(tok::identifier);
        name.setIdentifierInfo(&pp.getIdentifierTable().get(one.name));
        named.push_back(name);
      }
      named.insert(named.end(), one.declared.begin() + static_cast<std::ptrdiff_t>(at), one.declared.end());
      const bool is_pack = at > 0 && one.declared[at - 1].is(tok::ellipsis);
      head.template_arguments.push_back(one.name + (is_pack ? "..." : ""));
      begin = std::min(end + 1, list.size());
      const tokens behind_name = slice(list, end - (part.size() - sign), begin); // the default argument and the comma
      named.insert(named.end(), behind_name.begin(), behind_name.end());
    }
    named.push_back(templates.back());
    templates = std::move(named);
    return true;
  }
  /// The name of a type or a template is behind `class` or `typename`; that of a value is a declarator's.
  static std::size_t find_template_name(parameter &one) {
    const tokens &all = one.declared;
    std::size_t i = !all.empty() && all[0].is(tok::kw_template) && all.size() > 1 ? behind(all, 1) : 0;
    if (i < all.size() && all[i].isOneOf(tok::kw_class, tok::kw_typename)) {
      i += i + 1 < all.size() && all[i + 1].is(tok::ellipsis) ? 2 : 1;
      if (i == all.size())
        return i;
      if (i + 1 == all.size() && all[i].is(tok::identifier)) {
        one.name = word(all[i]);
        return i;
      }
    }
    return find_name(one); // `typename T::type n`, too
  }
  static tokens without_defaults(const tokens &templates) { // `template < ... >`
    const tokens list = slice(templates, 2, templates.size() - 1);
    tokens result = slice(templates, 0, 2);
    bool in_default = false;
    for (std::size_t i = 0, end = 0; i < list.size(); i = end) {
      end = behind(list, i);
      in_default = list[i].is(tok::equal) || (in_default && list[i].isNot(tok::comma));
      for (std::size_t k = i; k < end && !in_default; ++k)
        result.push_back(list[k]);
    }
    result.push_back(templates.back());
    return result;
  }

  bool parameters(const tokens &list) {
    if (list.empty() || (list.size() == 1 && list[0].is(tok::kw_void)))
      return true;
    for (const tokens &part : split_declarators(list)) {
      parameter p;
      const std::size_t sign = find_outside(part, 0, {tok::equal});
      p.declared = slice(part, 0, sign);
      p.by_default = slice(part, sign, part.size());
      for (const Token &token : p.declared)
        if (token.is(tok::ellipsis)) {
          refuse(token.getLocation(), name + " on a function with any number of arguments is not "
                                             "possible");
          return false;
        }
      const std::size_t deduced = find_outside(p.declared, 0, {tok::kw_auto});
      const bool has_type_behind = find_outside(p.declared, deduced, {tok::arrow}) < p.declared.size();
      if (deduced < p.declared.size() && !has_type_behind) {
        refuse(p.declared[deduced].getLocation(), name + " on a function with an 'auto' parameter is not possible: write the "
                                              "template with a name for the type");
        return false;
      }
      find_name(p);
      if (p.name.empty()) {
        refuse(part.empty() ? head.name.getLocation() : part[0].getLocation(),
               name + " needs the names of the function's parameters");
        return false;
      }
      Token comma;
      comma.startToken();
      comma.setKind(tok::comma);
      comma.setLocation(part[0].getLocation());
      m_commas.push_back(comma);
      head.parameters.push_back(std::move(p));
    }
    return true;
  }
  /// The name is the last word of a declarator, in front of dimensions and parameters, or in brackets behind a sign. Returns its index, or where
  /// it would be, or more than the size if that is not known.
  static std::size_t find_name(parameter &one) {
    const tokens &all = one.declared;
    const auto is = [&](std::size_t i, tok::TokenKind kind) { return i < all.size() && all[i].is(kind); };
    bool has_type = false;
    std::size_t found = all.size(), end = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Token &token = all[i];
      if (token.isOneOf(tok::kw___attribute, tok::kw_alignas, tok::kw__Alignas) && is(i + 1, tok::l_paren)) {
        i = closing(all, i + 1);
        continue;
      }
      if (token.is(tok::l_square)) {
        if (!is(i + 1, tok::l_square)) { // the dimensions of an array
          end = i;
          break;
        }
        i = closing(all, i);
        continue;
      }
      if (token.is(tok::l_paren) && found == all.size()) {
        std::size_t name = i + 1;
        while (name < all.size() && (all[name].isOneOf(tok::star, tok::amp, tok::ampamp, tok::caret, tok::l_paren, tok::ellipsis) ||
                                     is_qualifier(all[name]) || is(name + 1, tok::coloncolon) || is(name + 1, tok::less) || all[name].is(tok::coloncolon)))
          name = is(name + 1, tok::less) ? behind_angles(all, name + 1) : name + 1;
        if (name > i + 1 && (is(name, tok::r_paren) || is(name, tok::l_square)))
          return name;
        if (name == i + 1 || !is(name, tok::identifier))
          return all.size() + 1;
        found = name;
        break;
      }
      if (token.is(tok::l_paren)) { // what the name is followed by
        i = closing(all, i);
        continue;
      }
      found = all.size();
      if (token.isOneOf(tok::kw_typeof, tok::kw_decltype, tok::kw__Atomic) && is(i + 1, tok::l_paren)) {
        i = closing(all, i + 1);
        has_type = true;
      } else if (token.is(tok::less)) {
        i = behind_angles(all, i) - 1;
      } else if (token.isOneOf(tok::kw_struct, tok::kw_class, tok::kw_union, tok::kw_enum, tok::kw_typename)) {
        has_type = false; // that name follows
      } else if (token.is(tok::identifier)) {
        if (has_type && all[i - 1].isNot(tok::coloncolon))
          found = i;
        has_type = true;
      } else if (!is_qualifier(token) && token.isNot(tok::coloncolon)) {
        has_type = true;
      }
    }
    if (found == all.size())
      return end;
    one.name = word(all[found]);
    return found;
  }

  Preprocessor &pp;
  const pragma &parsed;
  const tokens &all;
  const std::string name;
  const SourceLocation m_place;
  function_head head;
  tokens m_commas;
};

} // namespace

bool declares_function(Preprocessor &pp, const tokens &before_bracket) {
  const tokens &all = before_bracket;
  if (std::ranges::any_of(all, [](const Token &token) { return token.is(tok::kw_operator); }))
    return true;
  if (all.size() < 2 || all.back().isNot(tok::identifier))
    return false;
  std::size_t i = all.size() - 1;
  while (i >= 2 && all[i - 1].is(tok::coloncolon) && all[i - 2].is(tok::identifier))
    i -= 2;
  if (i == 0 || all[i - 1].is(tok::coloncolon))
    return false;
  if (all[i - 1].is(tok::tilde))
    return all.size() == 2;
  if (!is_type_word(all[i - 1]))
    return false;
  // Behind a type, or behind an operator: `T && f(x)` and `ok && f(x)`, `T<a> f(x)` and `n > f(x)`.
  std::size_t end = i; // of the type
  while (end > 0 && all[end - 1].isOneOf(tok::star, tok::amp, tok::ampamp, tok::kw_const))
    --end;
  if (end == 0)
    return false;
  if (all[end - 1].isOneOf(tok::greater, tok::greatergreater))
    return std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const Token &token) { return token.is(tok::less); });
  if (end == i || all[end - 1].isNot(tok::identifier))
    return is_type_word(all[end - 1]);
  std::size_t front = end - 1;
  while (front >= 2 && all[front - 1].is(tok::coloncolon) && all[front - 2].is(tok::identifier))
    front -= 2;
  if (front > 0 && all[front - 1].is(tok::coloncolon))
    --front;
  if (front > 0) // a specifier, or what an expression begins with
    return all[front - 1].isOneOf(tok::kw_static, tok::kw_inline, tok::kw_extern, tok::kw_virtual,
                                  tok::kw_friend, tok::kw_constexpr, tok::kw_const, tok::kw_struct,
                                  tok::kw_class, tok::string_literal);
  const surroundings around = surroundings_of(pp, all[0].getLocation());
  return around.in_class || !around.in_function;
}

std::optional<function_head> parse_function(Preprocessor &pp, const pragma &parsed,
                                            const tokens &all, SourceLocation pragma) {
  return function_parser(pp, parsed, all, pragma).run();
}

bool is_in_function(Preprocessor &pp, SourceLocation where) {
  return surroundings_of(pp, where).in_function;
}

} // namespace weft_oss

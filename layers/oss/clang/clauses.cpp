// SPDX-License-Identifier: Apache-2.0
#include "clauses.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <algorithm>

namespace weft_oss {

using namespace clang;

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }
std::string pragma_name(const directive_row &which) {
  return "'#pragma " + std::string(which.pragma) + " " + std::string(which.name) + "'";
}

std::string_view word(const Token &token) {
  if (token.isAnnotation() || token.isLiteral() || !token.getIdentifierInfo())
    return {};
  const llvm::StringRef name = token.getIdentifierInfo()->getName();
  return {name.data(), name.size()};
}

/// Returns what lies between separators of kind `at` that are in no bracket.
std::vector<tokens> split(const tokens &all, tok::TokenKind at) {
  std::vector<tokens> parts(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is(at)) {
      parts.emplace_back();
    } else if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      const std::size_t end = closing(all, i);
      for (; i < end; ++i)
        parts.back().push_back(all[i]);
      if (end < all.size())
        parts.back().push_back(all[end]);
    } else {
      parts.back().push_back(all[i]);
    }
  }
  return parts;
}

tokens slice(const tokens &all, std::size_t from, std::size_t to) {
  to = std::min(to, all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(from, to)),
          all.begin() + static_cast<std::ptrdiff_t>(to)};
}

namespace {

/// Returns the index of the first ':' that belongs to no ?:, or of the first ';', or the size.
std::size_t separator(const tokens &all) {
  int questions = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      i = closing(all, i);
      if (i == all.size())
        return i;
    } else if (all[i].is(tok::question)) {
      ++questions;
    } else if (all[i].is(tok::colon) && questions > 0) {
      --questions;
    } else if (all[i].isOneOf(tok::colon, tok::semi)) {
      return i;
    }
  }
  return all.size();
}

class parser {
 public:
  parser(Preprocessor &preprocessor, const tokens &all, SourceLocation oss, std::string_view which)
      : pp(preprocessor), line(all), door(which), end(all.empty() ? oss : all.back().getLocation()) {}

  std::optional<pragma> run(SourceLocation oss);

 private:
  void fail(SourceLocation where, const std::string &text) {
    report_error(pp, where, text);
    failed = true;
  }
  bool directive(SourceLocation oss);
  bool check_target();
  void clause();
  void add_items(const clause_row &rule, clause_id mode, const tokens &all);
  void add_item(const clause_row &rule, clause_id mode, const tokens &all);
  bool iterators(item &it, const std::vector<tokens> &parts);
  bool sections(item &it, const tokens &all, std::string_view clause);
  void find_base(item &it);
  void depend(const Token &name, const tokens &all);
  void add_variables(const clause_row &rule, const tokens &all);
  void choice(const tokens &all, SourceLocation where);
  bool operation(const tokens &all, SourceLocation where, std::string &name, std::string &spelled);
  void reductions(const clause_row &rule, const tokens &all, SourceLocation where);
  void declaration_of_reduction();
  void assertion();
  void check_atomic();
  void check_loop();
  void check_sharing();

  Preprocessor &pp;
  const tokens &line;
  std::string_view door; // oss or omp
  SourceLocation end;
  std::size_t at = 0;
  pragma result;
  bool failed = false;
};

bool parser::directive(SourceLocation oss) {
  if (line.empty()) {
    fail(oss, "'#pragma " + std::string(door) + "' names no directive");
    return false;
  }
  std::string name(word(line[0]));
  result.where = line[0].getLocation();
  at = 1;
  // Names of two words come first: task for, taskloop for, declare reduction.
  if (line.size() > 1)
    if (const auto *const both = find_directive(name + " " + std::string(word(line[1])), door)) {
      result.directive = both;
      at = 2;
    }
  if (!result.directive)
    result.directive = find_directive(name, door);
  if (!result.directive) {
    if (name.empty())
      name = spelling(pp, line[0]);
    const std::string_view near = nearest_directive(name, door);
    fail(result.where, "unknown directive '#pragma " + std::string(door) + " " + name + "'" +
                           (near.empty() ? "" : "; did you mean " + quoted(near) + "?"));
    return false;
  }
  if (result.directive->how == state::refused) {
    fail(result.where,
         pragma_name(*result.directive) + " is not supported: " + std::string(result.directive->says));
    return false;
  }
  if (result.directive->id == directive_id::target && !check_target())
    return false;
  if (result.directive->how == state::ignored) {
    report_warning(pp, result.where,
                   pragma_name(*result.directive) + " is ignored: it is " +
                       std::string(result.directive->says));
    at = line.size();
    return true;
  }
  if (result.directive->id == directive_id::critical && at < line.size() &&
      line[at].is(tok::l_paren)) {
    if (at + 2 >= line.size() || word(line[at + 1]).empty() || line[at + 2].isNot(tok::r_paren)) {
      fail(line[at].getLocation(), "the name of " + pragma_name(*result.directive) +
                                       " must be one identifier: critical(name)");
      return false;
    }
    result.name = word(line[at + 1]);
    at += 3;
  }
  return true;
}

/// Refuses devices that are no processors, and functions that stand for others.
bool parser::check_target() {
  for (std::size_t i = at; i < line.size(); ++i) {
    const bool device = word(line[i]) == "device";
    if (!device && word(line[i]) != "implements")
      continue;
    if (device && i + 3 < line.size() && word(line[i + 2]) == "smp" &&
        line[i + 3].is(tok::r_paren))
      continue;
    fail(line[i].getLocation(),
         "clause " + quoted(word(line[i])) + " of " + pragma_name(*result.directive) + " is not supported: " +
             (device ? "Weft runs tasks on processors, which are device(smp)"
                     : "a task has one implementation"));
  }
  return !failed;
}

void parser::clause() {
  const Token &name = line[at];
  const std::string written = word(name).empty() ? spelling(pp, name) : std::string(word(name));
  const directive_row &d = *result.directive;
  const clause_row *const found = find_clause(written, d.clauses);
  ++at;
  tokens argument;
  bool has_argument = false;
  SourceLocation where = name.getLocation();
  if (at < line.size() && line[at].is(tok::l_paren)) {
    const std::size_t close = closing(line, at);
    if (close == line.size()) {
      fail(line[at].getLocation(), "the bracket of clause " + quoted(written) + " is not closed");
      at = close;
      return;
    }
    argument = slice(line, at + 1, close);
    has_argument = true;
    at = close + 1;
  }
  if (!found || (d.clauses & bit(found->id)) == 0) {
    if (d.clauses == 0)
      return fail(where, pragma_name(d) + " has no clauses: " + quoted(written));
    const directive_row *const newer = door == "oss" ? nullptr : find_directive(d.name);
    if (found && newer && (newer->clauses & bit(found->id)) != 0)
      return fail(where, "clause " + quoted(written) + " is of OmpSs-2: write " +
                             pragma_name(*newer));
    const std::string_view near = nearest_clause(written, d.clauses);
    return fail(where, (found ? "clause " + quoted(written) + " does not belong to "
                              : "unknown clause " + quoted(written) + " of ") +
                           pragma_name(d) +
                           (near.empty() ? "" : "; did you mean " + quoted(near) + "?"));
  }
  if (found->how == state::ignored)
    return report_warning(
        pp, where, "clause " + quoted(written) + " is ignored: it is " + std::string(found->says));
  if (found->id == clause_id::device && argument.size() == 1 && word(argument[0]) == "smp")
    return; // what each task has
  if (found->how == state::refused)
    return fail(where, "clause " + quoted(written) + " is not supported: " + std::string(found->says));
  if (!found->repeats && result.has(found->id))
    return fail(where, "clause " + quoted(written) + " appears twice in " + pragma_name(d));
  result.present |= bit(found->id);
  if (found->argument == takes::nothing) {
    if (has_argument)
      fail(where, "clause " + quoted(written) + " takes no argument");
    return;
  }
  if (!has_argument)
    return fail(where, "clause " + quoted(written) + " needs an argument: " + written + "(...)");
  if (argument.empty())
    return fail(where, "clause " + quoted(written) + " is empty");
  switch (found->argument) {
  case takes::items:
    return add_items(*found, found->id, argument);
  case takes::variables:
    return add_variables(*found, argument);
  case takes::depend:
    return depend(name, argument);
  case takes::reduction:
    return reductions(*found, argument, where);
  case takes::choice:
    return choice(argument, argument[0].getLocation());
  case takes::expression:
    result.expression[static_cast<unsigned>(found->id)] = std::move(argument);
    return;
  case takes::nothing:
  case takes::other:
    return;
  }
}

void parser::depend(const Token &name, const tokens &all) {
  const std::size_t colon = separator(all);
  const tokens kinds = slice(all, 0, colon);
  if (colon == all.size() || all[colon].isNot(tok::colon))
    return fail(name.getLocation(), "clause 'depend' needs a kind: depend(inout: x)");
  bool weak = false;
  const clause_row *mode = nullptr;
  for (const tokens &part : split(kinds, tok::comma)) {
    const std::string_view kind = part.size() == 1 ? word(part[0]) : std::string_view{};
    if (kind == "weak") {
      weak = true;
      continue;
    }
    const clause_row *const found = kind == "mutexinoutset" ? &row(clause_id::commutative)
                                    : kind == "inoutset"    ? &row(clause_id::concurrent)
                                                            : find_clause(kind);
    const bool right =
        found && (found->id == clause_id::in || found->id == clause_id::out ||
                  found->id == clause_id::inout || kind == "mutexinoutset" || kind == "inoutset");
    if (!right || mode) {
      return fail(part.empty() ? name.getLocation() : part[0].getLocation(),
                  mode ? "clause 'depend' has two kinds"
                       : "unknown kind of clause 'depend'; it must be in, out, inout, "
                         "mutexinoutset or inoutset, with or without weak");
    }
    mode = found;
  }
  if (!mode)
    return fail(name.getLocation(), "clause 'depend' needs a kind: depend(weak, inout: x)");
  clause_id id = mode->id;
  if (weak)
    id = find_clause("weak" + std::string(mode->name))->id;
  add_items(row(clause_id::depend), id, slice(all, colon + 1, all.size()));
}

void parser::add_items(const clause_row &rule, clause_id mode, const tokens &all) {
  for (const tokens &part : split(all, tok::comma)) {
    if (part.empty())
      return fail(all.empty() ? end : all[0].getLocation(),
                  "clause " + quoted(rule.name) + " has an empty item");
    add_item(rule, mode == clause_id::on ? clause_id::inout : mode, part);
  }
}

void parser::add_item(const clause_row &rule, clause_id mode, const tokens &all) {
  item it;
  it.mode = mode;
  it.where = all[0].getLocation();
  tokens of_item = all;
  if (all[0].is(tok::l_brace)) {
    if (closing(all, 0) != all.size() - 1)
      return fail(it.where, "a multi-dependence ends with its brace: {v[i], i=0;n}");
    auto parts = split(slice(all, 1, all.size() - 1), tok::comma);
    if (parts.size() < 2 || parts[0].empty())
      return fail(it.where, "a multi-dependence needs an item and an iterator: {v[i], i=0;n}");
    of_item = parts[0];
    it.where = of_item[0].getLocation();
    parts.erase(parts.begin());
    if (!iterators(it, parts))
      return;
  }
  if (!sections(it, of_item, rule.name))
    return;
  find_base(it);
  result.items.push_back(std::move(it));
}

bool parser::iterators(item &it, const std::vector<tokens> &parts) {
  for (const tokens &part : parts) {
    iterator i;
    if (part.size() < 3 || word(part[0]).empty() || part[1].isNot(tok::equal)) {
      fail(part.empty() ? it.where : part[0].getLocation(),
           "an iterator of a multi-dependence is 'i=first;count', 'i=first:last', "
           "'i=first:last:step' or 'i={a, b}'");
      return false;
    }
    i.name = part[0];
    const tokens range = slice(part, 2, part.size());
    if (range[0].is(tok::l_brace)) {
      i.how = iterator::form::list;
      i.first = range;
    } else {
      const std::size_t middle = separator(range);
      i.first = slice(range, 0, middle);
      if (middle < range.size()) {
        i.how = range[middle].is(tok::semi) ? iterator::form::span : iterator::form::range;
        i.second = slice(range, middle + 1, range.size());
        const std::size_t again = separator(i.second);
        if (i.how == iterator::form::range && again < i.second.size()) {
          i.step = slice(i.second, again + 1, i.second.size());
          i.second = slice(i.second, 0, again);
        }
      }
      if (i.first.empty() || i.second.empty()) {
        fail(i.name.getLocation(), "iterator " + quoted(word(i.name)) +
                                       " needs a first value and a count or a last value: "
                                       "i=first;count or i=first:last");
        return false;
      }
    }
    it.iterators.push_back(std::move(i));
  }
  return true;
}

bool parser::sections(item &it, const tokens &all, std::string_view clause) {
  std::size_t i = 0;
  while (i < all.size() && all[i].is(tok::l_square)) { // [n]p
    const std::size_t close = closing(all, i);
    it.shape.push_back(slice(all, i + 1, close));
    if (it.shape.back().empty()) {
      fail(all[i].getLocation(), "a shape of clause " + quoted(clause) + " needs an extent: [n]p");
      return false;
    }
    i = close + 1;
  }
  tokens rest = slice(all, i, all.size());
  if (rest.empty()) {
    fail(it.where, "a shape of clause " + quoted(clause) + " needs a pointer behind it: [n]p");
    return false;
  }
  if (it.shape.empty() && rest.size() > 2 && rest[0].is(tok::l_paren) &&
      rest[1].is(tok::l_square)) { // ([n]p)[a;b]
    const std::size_t close = closing(rest, 0);
    tokens bare = slice(rest, 1, close);
    const tokens behind = slice(rest, close + 1, rest.size());
    bare.insert(bare.end(), behind.begin(), behind.end());
    return sections(it, bare, clause);
  }

  std::size_t first = rest.size();
  for (std::size_t k = 0; k < rest.size(); ++k) {
    if (rest[k].isOneOf(tok::l_paren, tok::l_brace)) {
      k = closing(rest, k);
    } else if (rest[k].is(tok::l_square)) {
      const std::size_t close = closing(rest, k);
      const tokens inside = slice(rest, k + 1, close);
      // With a shape all brackets are of the shape's dimensions.
      if (separator(inside) < inside.size() || (!it.shape.empty() && first == rest.size())) {
        first = std::min(first, k);
      }
      k = close;
    }
  }
  it.shape_free = slice(rest, 0, first);
  if (it.shape_free.empty()) {
    fail(it.where, "an item of clause " + quoted(clause) + " has no name");
    return false;
  }
  for (std::size_t k = first; k < rest.size();) {
    if (rest[k].isNot(tok::l_square)) {
      fail(rest[k].getLocation(), "nothing may follow the array section of an item");
      return false;
    }
    const std::size_t close = closing(rest, k);
    const tokens inside = slice(rest, k + 1, close);
    dimension d;
    const std::size_t middle = separator(inside);
    d.first = slice(inside, 0, middle);
    if (middle < inside.size()) {
      d.how = inside[middle].is(tok::semi) ? dimension::form::span : dimension::form::range;
      d.second = slice(inside, middle + 1, inside.size());
    } else if (inside.empty()) {
      fail(rest[k].getLocation(), "an array section needs an index");
      return false;
    }
    if (d.how == dimension::form::span && d.second.empty()) {
      fail(rest[k].getLocation(), "the array section '[first;count]' needs a count");
      return false;
    }
    it.sections.push_back(std::move(d));
    k = close + 1;
  }
  if (std::max(it.shape.size(), it.sections.size()) > 3) {
    fail(it.where, "an item has at most three dimensions");
    return false;
  }
  return true;
}

/// Finds the variable whose storage the item names. Types in casts, qualified names, functions and
/// `this` are none.
void parser::find_base(item &it) {
  const tokens &all = it.shape_free;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Token &t = all[i];
    if (t.isOneOf(tok::kw_static_cast, tok::kw_reinterpret_cast, tok::kw_const_cast,
                  tok::kw_dynamic_cast)) {
      while (i < all.size() && all[i].isNot(tok::l_paren))
        ++i;
      continue;
    }
    if (t.is(tok::l_paren)) { // a cast: (type), (type *)
      const std::size_t close = closing(all, i);
      bool type = close > i + 1 && close + 1 < all.size() &&
                  (all[close + 1].isOneOf(tok::identifier, tok::l_paren, tok::star, tok::amp));
      for (std::size_t k = i + 1; k < close && type; ++k)
        type = all[k].isOneOf(tok::identifier, tok::star, tok::coloncolon, tok::amp) ||
               all[k].getIdentifierInfo() != nullptr;
      if (type && !(all[close + 1].is(tok::l_paren) && close == i + 2)) { // (f)(x)
        i = close;
      }
      continue;
    }
    if (t.isOneOf(tok::star, tok::amp))
      continue;
    if (t.isNot(tok::identifier))
      return; // this, ::x, a keyword
    if (i + 1 < all.size() && all[i + 1].isOneOf(tok::l_paren, tok::coloncolon, tok::less))
      return;
    it.base = t;
    it.plain = all.size() == 1 && it.shape.empty() && it.sections.empty();
    return;
  }
}

void parser::add_variables(const clause_row &rule, const tokens &all) {
  for (const tokens &part : split(all, tok::comma)) {
    if (part.size() != 1 || part[0].isNot(tok::identifier)) {
      fail(part.empty() ? all[0].getLocation() : part[0].getLocation(),
           "clause " + quoted(rule.name) + " takes names of variables");
      continue;
    }
    result.variables.push_back({part[0], rule.id});
  }
}

void parser::choice(const tokens &all, SourceLocation where) {
  const std::string_view name = all.size() == 1 ? word(all[0]) : std::string_view{};
  if (name == "shared")
    result.by_default = defaults::shared;
  else if (name == "firstprivate")
    result.by_default = defaults::firstprivate;
  else if (name == "none")
    result.by_default = defaults::none;
  else
    fail(where, "clause 'default' must be default(shared), default(firstprivate) or default(none)");
}

void parser::check_sharing() {
  for (std::size_t i = 0; i < result.variables.size(); ++i) {
    const variable &v = result.variables[i];
    for (std::size_t k = 0; k < i; ++k)
      if (word(result.variables[k].name) == word(v.name)) {
        const auto &other = result.variables[k];
        fail(v.name.getLocation(), other.sharing == v.sharing
                                       ? "variable " + quoted(word(v.name)) +
                                             " is named twice in clause " +
                                             quoted(row(v.sharing).name)
                                       : "variable " + quoted(word(v.name)) + " is both " +
                                             std::string(row(other.sharing).name) + " and " +
                                             std::string(row(v.sharing).name));
        break;
      }
    if (v.sharing == clause_id::shared)
      continue;
    for (const item &it : result.items)
      if (it.base && word(*it.base) == word(v.name) &&
          (it.plain || v.sharing == clause_id::private_)) {
        fail(v.name.getLocation(), "variable " + quoted(word(v.name)) + " is " +
                                       std::string(row(v.sharing).name) +
                                       " and an item of a dependence, which must be shared");
        break;
      }
  }
}

/// Returns the name by which an operation is found: words stand for signs.
bool parser::operation(const tokens &all, SourceLocation where, std::string &name,
                       std::string &spelled) {
  static constexpr struct {
    tok::TokenKind sign;
    const char *name;
  } k_signs[] = {{tok::plus, "plus"},   {tok::minus, "plus"},  {tok::star, "times"},
                 {tok::amp, "bit_and"}, {tok::pipe, "bit_or"}, {tok::caret, "bit_xor"},
                 {tok::ampamp, "and"},  {tok::pipepipe, "or"}};
  if (all.size() == 1) {
    spelled = spelling(pp, all[0]);
    for (const auto &[sign, called] : k_signs)
      if (all[0].is(sign))
        name = called;
    if (all[0].is(tok::identifier))
      name = word(all[0]);
  }
  if (name.empty())
    fail(all.empty() ? where : all[0].getLocation(),
         "the operation of a reduction must be one of + - * & | ^ && || min max, or the name of a "
         "declared one");
  return !name.empty();
}

void parser::reductions(const clause_row &rule, const tokens &all, SourceLocation where) {
  const std::size_t colon = separator(all);
  if (colon == all.size() || all[colon].isNot(tok::colon))
    return fail(where, "clause " + quoted(rule.name) +
                           " needs an operation: " + std::string(rule.name) + "(+: x)");
  std::string name, spelled;
  if (!operation(slice(all, 0, colon), all[0].getLocation(), name, spelled))
    return;
  const tokens items = slice(all, colon + 1, all.size());
  if (items.empty())
    return fail(where, "clause " + quoted(rule.name) + " is empty");
  const std::size_t before = result.items.size();
  add_items(rule, rule.id, items);
  for (std::size_t i = before; i < result.items.size(); ++i) {
    item &it = result.items[i];
    it.operation = name;
    it.spelled = spelled;
    if (!it.iterators.empty())
      fail(it.where, "an item of clause " + quoted(rule.name) +
                         " has no iterators: name an array "
                         "section, v[a;n]");
    else if (!it.base)
      fail(it.where,
           "an item of clause " + quoted(rule.name) + " must begin with the name of a variable");
    for (std::size_t k = 0; k < i && it.base; ++k)
      if (const item &other = result.items[k];
          !other.operation.empty() && other.base && word(*other.base) == word(*it.base))
        fail(it.where,
             "variable " + quoted(word(*it.base)) + " begins two items of reductions of one task");
  }
}

void parser::declaration_of_reduction() {
  const std::string name = pragma_name(*result.directive);
  const std::string form = "it is declare reduction(name : type : combiner)";
  if (at == line.size() || line[at].isNot(tok::l_paren))
    return fail(at < line.size() ? line[at].getLocation() : result.where,
                name + " needs a bracket: " + form);
  const std::size_t close = closing(line, at);
  if (close == line.size()) {
    fail(line[at].getLocation(), "the bracket of " + name + " is not closed");
    at = close;
    return;
  }
  const tokens all = slice(line, at + 1, close);
  const SourceLocation open = line[at].getLocation();
  at = close + 1;
  const std::size_t first = separator(all);
  const tokens behind = slice(all, std::min(first + 1, all.size()), all.size());
  const std::size_t second = separator(behind);
  std::string spelled;
  if (first == all.size() || all[first].isNot(tok::colon) || second == behind.size() ||
      behind[second].isNot(tok::colon) || second == 0 || second + 1 == behind.size()) {
    fail(open, name + " needs a name, types and a combiner: " + form);
    at = line.size();
    return;
  }
  if (!operation(slice(all, 0, first), open, result.declared.name, spelled)) {
    at = line.size();
    return;
  }
  result.declared.combiner = slice(behind, second + 1, behind.size());
  // Commas between types; those within <> belong to one.
  int angles = 0;
  result.declared.types.emplace_back();
  for (std::size_t i = 0; i < second; ++i) {
    const Token &t = behind[i];
    angles += t.is(tok::less) ? 1 : t.is(tok::greater) ? -1 : t.is(tok::greatergreater) ? -2 : 0;
    if (t.is(tok::comma) && angles == 0)
      result.declared.types.emplace_back();
    else
      result.declared.types.back().push_back(t);
  }
  for (const tokens &type : result.declared.types)
    if (type.empty())
      fail(open, name + " has an empty type");
  if (at == line.size())
    return;
  if (word(line[at]) != "initializer" || at + 1 == line.size() ||
      line[at + 1].isNot(tok::l_paren) || closing(line, at + 1) != line.size() - 1 ||
      at + 3 > line.size() - 1) {
    fail(line[at].getLocation(),
         "behind the bracket of " + name + " only initializer(omp_priv = value) may follow");
    at = line.size();
    return;
  }
  result.declared.start = slice(line, at + 2, line.size() - 1);
  at = line.size();
}

void parser::assertion() {
  const std::string name = pragma_name(*result.directive);
  const bool right = at + 3 == line.size() && line[at].is(tok::l_paren) &&
                     line[at + 1].is(tok::string_literal) && line[at + 2].is(tok::r_paren);
  if (!right) {
    fail(at < line.size() ? line[at].getLocation() : result.where,
         name + " needs a string: assert(\"version.dependencies==regions\")");
    at = line.size();
    return;
  }
  std::string text = spelling(pp, line[at + 1]);
  std::erase_if(text, [](char c) { return c == ' ' || c == '"'; });
  const SourceLocation where = line[at + 1].getLocation();
  at = line.size();
  if (text == "version.dependencies==regions" || text == "version.dependencies!=discrete") {
    result.by_bytes = true;
    return;
  }
  const bool demands_address =
      text == "version.dependencies==discrete" || text == "version.dependencies!=regions";
  if (demands_address) {
    if (pp.isMacroDefined("WEFT_OSS_REGIONS"))
      fail(where, name + " demands the order by address, and -foss-regions the order by bytes");
    return;
  }
  if (text.starts_with("version.dependencies"))
    return fail(where, name + " knows version.dependencies==regions and "
                              "version.dependencies==discrete");
  report_warning(pp, where,
                 name + " is ignored: Weft has no " +
                     quoted(text.substr(0, text.find_first_of("=!<>"))));
}

void parser::check_atomic() {
  if (result.directive->id != directive_id::atomic || failed)
    return;
  const auto only_one = [&](std::initializer_list<clause_id> all, const char *what) {
    const clause_row *found = nullptr;
    for (const clause_id id : all)
      if (result.has(id)) {
        if (found)
          return fail(result.where, pragma_name(*result.directive) + " has two " + what + ": " +
                                        quoted(found->name) + " and " + quoted(row(id).name));
        found = &row(id);
      }
  };
  using enum clause_id;
  only_one({read, write, atomic_update}, "forms");
  for (const clause_id more : {capture, compare}) // that an update may have
    for (const clause_id form : {read, write})
      if (result.has(more))
        only_one({form, more}, "forms");
  only_one({seq_cst, acq_rel, acquire, release, relaxed}, "orders");
  for (const auto &[form, order] :
       {std::pair{read, release}, {read, acq_rel}, {write, acquire}, {write, acq_rel}})
    if (result.has(form) && result.has(order))
      fail(result.where, "'" + std::string(row(form).name) + "' of " +
                             pragma_name(*result.directive) + " cannot have the order " +
                             quoted(row(order).name));
}

void parser::check_loop() {
  if (!result.has(clause_id::collapse))
    return;
  const tokens &n = result.value(clause_id::collapse);
  const std::string text = n.size() == 1 ? spelling(pp, n[0]) : std::string{};
  if (n.size() != 1 || n[0].isNot(tok::numeric_constant) || text.size() != 1 || text[0] < '1' ||
      text[0] > '9')
    return fail(n[0].getLocation(), "clause 'collapse' needs a number of loops from 1 to 9");
  result.loops = static_cast<unsigned>(text[0] - '0');
}

std::optional<pragma> parser::run(SourceLocation oss) {
  if (!directive(oss))
    return {};
  if (result.directive->id == directive_id::declare_reduction)
    declaration_of_reduction();
  else if (result.directive->id == directive_id::assertion)
    assertion();
  while (at < line.size()) {
    if (line[at].is(tok::comma)) {
      ++at;
      continue;
    }
    clause();
  }
  check_sharing();
  check_atomic();
  check_loop();
  if (result.directive->id == directive_id::release && result.items.empty() && !failed)
    fail(result.where, "'#pragma oss release' needs a dependence to give up: release out(x)");
  if (failed)
    return {};
  return std::move(result);
}

} // namespace

std::optional<pragma> parse(Preprocessor &pp, const tokens &line, SourceLocation oss,
                            std::string_view which) {
  return parser(pp, line, oss, which).run(oss);
}

} // namespace weft_oss

// SPDX-License-Identifier: Apache-2.0
#include "enclosing.hpp"

#include "cxx_items.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft_oss {

using namespace clang;

namespace {

/// The variables that a task uses itself. False: only if it is no pointer.
using own_names = std::map<std::string, bool>;

/// The tasks whose statements are read, the outermost first.
struct open_task {
  const statement_reader *reader;
  own_names names;
};
std::vector<open_task> g_enclosing;

/// Returns what the tasks use that are around the pragma which is read now. A reader that looks for an `else` may have met
/// a pragma behind its statement: that is in no task whose statement ends there.
std::vector<const own_names *> around() {
  std::vector<const own_names *> found;
  bool beyond = true;
  for (auto task = g_enclosing.rbegin(); task != g_enclosing.rend(); ++task) {
    const bool innermost = task == g_enclosing.rbegin();
    beyond = beyond && !task->reader->is_in_bracket() && (!innermost || task->reader->is_beyond());
    if (!beyond)
      found.insert(found.begin(), &task->names);
  }
  return found;
}

/// The variables that the tokens so far have declared, in scopes that still hold.
class declared_names {
 public:
  void pass(const Token &token) {
    m_braces += token.is(tok::l_brace) ? 1 : 0;
    m_braces -= token.is(tok::r_brace) ? 1 : 0;
    m_parentheses += token.is(tok::l_paren) ? 1 : 0;
    m_parentheses -= token.is(tok::r_paren) ? 1 : 0;
    if (token.isOneOf(tok::r_brace, tok::semi))
      std::erase_if(m_all, [&](const place &known) {
        // What parentheses declare, as a lambda's or a loop's, holds for the block or the statement behind them.
        return m_braces < known.braces || (known.parentheses > 0 && m_braces == known.braces &&
                                           m_parentheses < known.parentheses);
      });
  }
  void add(const std::string &name) { m_all.push_back({name, m_braces, m_parentheses}); }
  [[nodiscard]] bool has(const std::string &name) const {
    return std::ranges::any_of(m_all, [&](const place &known) { return known.name == name; });
  }

 private:
  struct place {
    std::string name;
    int braces, parentheses;
  };
  std::vector<place> m_all;
  int m_braces = 0, m_parentheses = 0;
};

bool is_word_of_type(const Token &token) {
  return token.isOneOf(tok::kw_auto, tok::kw_bool, tok::kw_char, tok::kw_short, tok::kw_int,
                       tok::kw_long, tok::kw_float, tok::kw_double, tok::kw_signed,
                       tok::kw_unsigned, tok::kw_void, tok::kw_wchar_t, tok::kw_char8_t,
                       tok::kw_char16_t, tok::kw_char32_t);
}
/// Returns the index of the name whose template arguments `>` ends, with nothing between that ends an expression; or 0.
std::size_t template_of(const tokens &statement, std::size_t at) {
  for (std::size_t i = at, depth = 0; i > 0; --i) {
    if (statement[i].isOneOf(tok::semi, tok::l_brace, tok::r_brace))
      return 0;
    depth += statement[i].is(tok::greater) ? 1 : 0;
    if (statement[i].is(tok::less) && --depth == 0)
      return statement[i - 1].is(tok::identifier) ? i - 1 : 0;
  }
  return 0;
}

bool declares(const tokens &statement, std::size_t at);
/// Returns whether a comma separates variables of one declaration: the statement that it is in begins with one.
bool follows_declarator(const tokens &statement, std::size_t comma) {
  std::size_t begin = comma;
  for (int depth = 0; begin > 0; --begin) {
    const Token &before = statement[begin - 1];
    if (before.isOneOf(tok::r_paren, tok::r_square) ||
        (before.is(tok::r_brace) && (depth > 0 || statement[begin].is(tok::comma)))) { // not the end of a block
      ++depth;
    } else if (depth > 0) {
      depth -= before.isOneOf(tok::l_paren, tok::l_square, tok::l_brace) ? 1 : 0;
    } else if (before.isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::l_paren, tok::l_square)) {
      break;
    }
  }
  // Those of a function are parameters, with a type each; those of a loop are not.
  if (begin > 0 && statement[begin - 1].is(tok::l_paren) &&
      (begin < 2 || statement[begin - 2].isNot(tok::kw_for)))
    return false;
  for (std::size_t i = begin + 1; i < comma; ++i)
    if (statement[i].is(tok::identifier) && declares(statement, i))
      return true;
    else if (statement[i].isOneOf(tok::equal, tok::l_paren, tok::question))
      return false;
  return false;
}
/// Returns whether an identifier of the statement is a variable that it declares: `double sum = 0`, `(auto &sum)`, `std::vector<int> sum{}`,
/// `int a, sum;`. By its neighbours; what may be an expression, too, as `a * sum;`, is taken for one.
bool declares(const tokens &statement, std::size_t at) {
  if (at == 0 || at + 1 == statement.size() ||
      !statement[at + 1].isOneOf(tok::equal, tok::semi, tok::l_brace, tok::comma, tok::r_paren,
                                 tok::l_square, tok::colon))
    return false;
  std::size_t type = at - 1;
  const bool derived = statement[type].isOneOf(tok::star, tok::amp, tok::ampamp);
  while (type > 0 && statement[type].isOneOf(tok::star, tok::amp, tok::ampamp, tok::kw_const))
    --type;
  if (statement[type].is(tok::comma))
    return follows_declarator(statement, type);
  const Token &end = statement[type];
  if (is_word_of_type(end) || end.is(tok::kw_const))
    return true;
  // A name, or the end of template arguments: `a * sum = 0` is no expression, but `a * sum;` and `a > sum;` may be, if no statement begins with them.
  if (end.is(tok::greater)) {
    std::size_t front = derived ? 0 : template_of(statement, type);
    if (front == 0 || statement[at + 1].isOneOf(tok::equal, tok::l_brace))
      return front > 0;
    while (front >= 2 && statement[front - 1].is(tok::coloncolon) && statement[front - 2].is(tok::identifier))
      front -= 2;
    return front > 0 && statement[front - 1].isOneOf(tok::l_brace, tok::semi, tok::r_brace) && statement[at + 1].isOneOf(tok::semi, tok::comma);
  }
  if (end.isNot(tok::identifier))
    return false;
  if (!derived)
    return true;
  if (statement[at + 1].isNot(tok::equal))
    return false;
  std::size_t front =
      type; // of the type: in an expression `a && sum = 0` there is something else in front
  while (front >= 2 && statement[front - 1].is(tok::coloncolon) &&
         statement[front - 2].is(tok::identifier))
    front -= 2;
  return front == 0 || statement[front - 1].isOneOf(tok::l_brace, tok::semi, tok::l_paren,
                                                    tok::r_brace, tok::comma, tok::kw_const);
}
} // namespace

void refuse_shared_outside(writer &code, const tokens &statement,
                           const std::function<bool(const Token &)> &named) {
  std::set<std::string> given;
  declared_names own;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    const Token &at = statement[i];
    own.pass(at);
    if (at.isNot(tok::identifier) || named(at) ||
        (i > 0 && statement[i - 1].isOneOf(tok::period, tok::arrow, tok::coloncolon)))
      continue;
    const std::string name(word(at));
    if (declares(statement, i))
      own.add(name);
    if (own.has(name))
      continue;
    const std::string sentence =
        "variable '" + name +
        "', which a task around this one uses itself, must be in shared or firstprivate of "
        "this one: with --gcc a global variable looks like a local one; shared is the "
        "variable itself, firstprivate a copy, as without --gcc for a local one";
    for (const auto *names : around())
      if (const auto found = names->find(name);
          found != names->end() && given.insert(name).second) {
        if (found->second)
          code.refuse(at, sentence);
        else
          code << "static_assert(::weft::oss::refers_to_pointer<decltype((" + name + "))>, \"" +
                      sentence + "\");";
      }
  }
}

enclosing_task::enclosing_task(const pragma &of, const statement_reader &reader) {
  own_names names;
  for (const item &it : of.items)
    if (it.base && !is_reduction(it))
      names[std::string(word(*it.base))] |= it.plain;
  for (const variable &v : of.variables)
    if (v.sharing == clause_id::shared)
      names[std::string(word(v.name))] = true;
    else
      names.erase(std::string(word(v.name)));
  g_enclosing.push_back({&reader, std::move(names)});
}

void enclosing_task::leave() {
  if (m_inside)
    g_enclosing.pop_back();
  m_inside = false;
}

bool is_in_task() { return !g_enclosing.empty(); }

} // namespace weft_oss

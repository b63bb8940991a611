// SPDX-License-Identifier: Apache-2.0
#include "atomic.hpp"

#include <algorithm>
#include <tuple>

namespace weft_oss {

using namespace clang;

namespace {

bool is_operation(const Token &token) {
  return token.isOneOf(tok::plus, tok::minus, tok::star, tok::slash, tok::percent, tok::amp,
                       tok::pipe, tok::caret, tok::lessless, tok::greatergreater);
}
/// Returns the sign of a compound assignment, or nothing.
const char *compound(const Token &token) {
  switch (token.getKind()) {
  case tok::plusequal:
    return "+";
  case tok::minusequal:
    return "-";
  case tok::starequal:
    return "*";
  case tok::slashequal:
    return "/";
  case tok::percentequal:
    return "%";
  case tok::ampequal:
    return "&";
  case tok::pipeequal:
    return "|";
  case tok::caretequal:
    return "^";
  case tok::lesslessequal:
    return "<<";
  case tok::greatergreaterequal:
    return ">>";
  default:
    return nullptr;
  }
}

class atomic_parser {
 public:
  explicit atomic_parser(Preprocessor &preprocessor) : pp(preprocessor) {}

  std::optional<atomic_statement> run(const pragma &parsed, const tokens &statement) {
    using enum atomic_statement::form;
    atomic_statement result{};
    const bool block = statement[0].is(tok::l_brace);
    const tokens all =
        slice(statement, block ? 1 : 0, statement.size() - 1); // without ; or the braces
    if (parsed.has(clause_id::read)) {
      result.what = read;
      if (!block && assignment(all, result.captured, result.object) &&
          !has_assignment(result.object))
        return result;
    } else if (parsed.has(clause_id::write)) {
      result.what = write;
      if (!block && assignment(all, result.object, result.operand))
        return result;
    } else if (parsed.has(clause_id::compare)) {
      result.what = atomic_statement::form::compare;
      if (parsed.has(clause_id::capture) ? captured_comparison(statement, result)
                                         : comparison(statement, result))
        return result;
    } else if (parsed.has(clause_id::capture)) {
      result.what = update;
      if (block ? two_statements(all, result) : one_statement(all, result))
        return result;
    } else {
      result.what = update;
      bool before = false;
      if (!block && change(all, result, before))
        return result;
    }
    return {};
  }

 private:
  [[nodiscard]] bool same(const tokens &a, const tokens &b) const {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [&](const Token &x, const Token &y) {
             return spelling(pp, x) == spelling(pp, y);
           });
  }
  /// Returns the index of the first `=` that is in no bracket, or the size.
  static std::size_t equal_sign(const tokens &all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
        i = closing(all, i);
      else if (all[i].is(tok::equal))
        return i;
    }
    return all.size();
  }
  static bool has_assignment(const tokens &all) {
    return equal_sign(all) != all.size() ||
           std::ranges::any_of(all, [](const Token &token) { return compound(token) != nullptr; });
  }
  static bool assignment(const tokens &all, tokens &left, tokens &right) {
    const std::size_t at = equal_sign(all);
    if (at == 0 || at + 1 >= all.size())
      return false;
    left = slice(all, 0, at);
    right = slice(all, at + 1, all.size());
    return !has_compound(left) && loosest(all) > k_comma;
  }
  static bool has_compound(const tokens &all) {
    return std::ranges::any_of(all, [](const Token &token) { return compound(token) != nullptr; });
  }
  /// x++, ++x, x += e, x = x + e, x = e + x. `before`: the value of the expression is the old one.
  bool change(const tokens &all, atomic_statement &result, bool &before) const {
    before = false;
    if (all.size() < 2 || loosest(all) == k_comma)
      return false;
    const auto unit = [&](const Token &token) {
      result.sign = token.is(tok::plusplus) ? "+" : "-";
      return token.isOneOf(tok::plusplus, tok::minusminus);
    };
    if (unit(all[0])) {
      result.object = slice(all, 1, all.size());
      return !has_assignment(result.object);
    }
    if (unit(all.back())) {
      result.object = slice(all, 0, all.size() - 1);
      before = true;
      return !has_assignment(result.object);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
        i = closing(all, i);
      } else if (const char *const sign = compound(all[i])) {
        result.sign = sign;
        result.object = slice(all, 0, i);
        result.operand = slice(all, i + 1, all.size());
        return !result.object.empty() && !result.operand.empty();
      } else if (all[i].is(tok::equal)) {
        break;
      }
    }
    tokens value;
    if (!assignment(all, result.object, value) || value.size() < result.object.size() + 2)
      return false;
    const std::size_t n = result.object.size();
    if (same(slice(value, 0, n), result.object) && is_operation(value[n])) {
      result.sign = spelling(pp, value[n]);
      result.operand = slice(value, n + 1, value.size());
      return loosest(result.operand) > precedence(value[n]);
    }
    const std::size_t at = value.size() - n - 1;
    if (same(slice(value, at + 1, value.size()), result.object) && is_operation(value[at])) {
      result.sign = spelling(pp, value[at]);
      result.operand = slice(value, 0, at);
      result.operand_first = true;
      return loosest(result.operand) >= precedence(value[at]);
    }
    return false;
  }

  /// v = x++, v = x += e, v = x = x + e
  bool one_statement(const tokens &all, atomic_statement &result) const {
    tokens expression;
    bool before = false;
    if (!assignment(all, result.captured, expression) || !change(expression, result, before))
      return false;
    result.kept = before ? atomic_statement::value::old : atomic_statement::value::now;
    return true;
  }
  /// v = x; and a change or a write of x, or a change of x and v = x;
  bool two_statements(const tokens &all, atomic_statement &result) const {
    const auto parts = split(all, tok::semi);
    if (parts.size() != 3 || !parts[2].empty())
      return false;
    bool before = false;
    tokens object;
    for (const bool first : {true, false}) {
      result = {};
      result.what = atomic_statement::form::update;
      const tokens &kept = parts[first ? 0 : 1], &changes = parts[first ? 1 : 0];
      if (!assignment(kept, result.captured, object) || has_assignment(object))
        continue;
      result.kept = first ? atomic_statement::value::old : atomic_statement::value::now;
      if (change(changes, result, before) && same(object, result.object))
        return true;
      result.sign.clear();
      result.operand_first = false;
      if (first && assignment(changes, result.object, result.operand) &&
          same(object, result.object) && !has_assignment(result.operand))
        return true;
    }
    return false;
  }

  /// Returns the statements of a list; an empty one for what is none.
  static std::vector<tokens> statements(const tokens &all) {
    std::vector<tokens> found;
    for (std::size_t i = 0; i < all.size();) {
      const std::size_t end = end_of_statement(all, i);
      found.push_back(slice(all, i, end));
      i = std::max(end, i + 1);
    }
    return found;
  }
  /// Returns where the statement ends that begins at a token.
  static std::size_t end_of_statement(const tokens &all, std::size_t at) {
    if (at < all.size() && all[at].is(tok::kw_if)) {
      const std::size_t end = end_of_statement(all, closing(all, at + 1) + 1);
      return end < all.size() && all[end].is(tok::kw_else) ? end_of_statement(all, end + 1) : end;
    }
    if (at < all.size() && all[at].is(tok::l_brace))
      return std::min(closing(all, at) + 1, all.size());
    for (; at < all.size() && all[at].isNot(tok::semi); ++at)
      if (all[at].isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
        at = closing(all, at);
    return std::min(at + 1, all.size());
  }
  /// Takes the one assignment of a statement apart, which may have braces.
  static bool assigned(const tokens &statement, tokens &left, tokens &right) {
    const bool block = !statement.empty() && statement[0].is(tok::l_brace);
    const tokens one = block ? slice(statement, 1, statement.size() - 1) : statement;
    return !one.empty() && end_of_statement(one, 0) == one.size() && one.back().is(tok::semi) &&
           assignment(slice(one, 0, one.size() - 1), left, right) && !has_assignment(right);
  }

  /// if (condition) left = right; and the statement behind `else`
  struct choice {
    tokens condition, left, right, otherwise;
  };
  static bool choose(const tokens &statement, choice &of) {
    if (statement.size() < 4 || statement[0].isNot(tok::kw_if) || statement[1].isNot(tok::l_paren))
      return false;
    const std::size_t close = closing(statement, 1), end = end_of_statement(statement, close + 1);
    of.condition = slice(statement, 2, close);
    of.otherwise = slice(statement, end + 1, statement.size());
    return assigned(slice(statement, close + 1, end), of.left, of.right);
  }

  /// x == e, e == x, and with < and >
  bool compared(tokens condition, atomic_statement &result) const {
    while (condition.size() > 2 && condition[0].is(tok::l_paren) &&
           closing(condition, 0) + 1 == condition.size())
      condition = slice(condition, 1, condition.size() - 1);
    const auto compares = [](const Token &token) {
      return token.isOneOf(tok::equalequal, tok::less, tok::greater);
    };
    const std::size_t n = result.object.size();
    if (condition.size() < n + 2)
      return false;
    if (same(slice(condition, 0, n), result.object) && compares(condition[n])) {
      result.sign = spelling(pp, condition[n]);
      result.operand = slice(condition, n + 1, condition.size());
      return loosest(result.operand) > precedence(condition[n]) && !has_assignment(result.operand);
    }
    const std::size_t at = condition.size() - n - 1;
    if (!same(slice(condition, at + 1, condition.size()), result.object) ||
        !compares(condition[at]))
      return false;
    result.sign = spelling(pp, condition[at]);
    result.operand = slice(condition, 0, at);
    result.operand_first = true;
    return loosest(result.operand) >= precedence(condition[at]) && !has_assignment(result.operand);
  }
  /// The new value is any one where values are equal; a less or greater one is what has been compared.
  bool becomes(const tokens &value, atomic_statement &result) const {
    if (result.sign == "==")
      result.changed = value;
    return result.sign == "==" || same(value, result.operand);
  }

  /// x = x < e ? e : x
  bool conditional_value(const tokens &left, const tokens &right, atomic_statement &result) const {
    result.object = left;
    const std::size_t n = left.size();
    std::size_t question = 0;
    while (question < right.size() && right[question].isNot(tok::question))
      question = right[question].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)
                     ? closing(right, question) + 1
                     : question + 1;
    if (question + n + 2 >= right.size())
      return false;
    const std::size_t colon = right.size() - n - 1;
    return right[colon].is(tok::colon) && same(slice(right, colon + 1, right.size()), left) &&
           compared(slice(right, 0, question), result) &&
           becomes(slice(right, question + 1, colon), result);
  }
  /// if (x < e) x = e; or x = x < e ? e : x;
  bool comparison(const tokens &statement, atomic_statement &result) const {
    choice of;
    if (choose(statement, of)) {
      result.object = of.left;
      return of.otherwise.empty() && compared(of.condition, result) && becomes(of.right, result);
    }
    tokens left, right;
    return statement[0].isNot(tok::l_brace) && assigned(statement, left, right) &&
           conditional_value(left, right, result);
  }
  bool captured_comparison(const tokens &statement, atomic_statement &result) const {
    using enum atomic_statement::value;
    const atomic_statement fresh = result;
    choice of;
    tokens object;
    // v = x is what is kept of an object that has not changed.
    const auto keeps = [&](const tokens &from) {
      return assigned(from, result.captured, object) && same(object, result.object);
    };
    if (statement[0].isNot(tok::l_brace)) {
      tokens chosen;
      if (!choose(statement, of)) // v = x = x < e ? e : x
        return assignment(slice(statement, 0, statement.size() - 1), result.captured, object) &&
               assignment(object, result.object, chosen) && !has_assignment(chosen) &&
               conditional_value(result.object, chosen, result);
      result.object = of.left;
      result.kept = unchanged;
      return compared(of.condition, result) && result.sign == "==" && becomes(of.right, result) &&
             keeps(of.otherwise);
    }
    const std::vector<tokens> all = statements(slice(statement, 1, statement.size() - 1));
    if (all.size() != 2)
      return false;
    tokens asked;
    if (choose(all[1], of) && assigned(all[0], result.answer, asked) &&
        same(of.condition, result.answer)) { // r = x == e; if (r) x = d; else v = x;
      result.object = of.left;
      result.kept = unchanged;
      return compared(asked, result) && result.sign == "==" && becomes(of.right, result) &&
             (of.otherwise.empty() || keeps(of.otherwise));
    }
    for (const auto &[which, kept, changes] :
         {std::tuple{old, all[0], all[1]}, std::tuple{now, all[1], all[0]}}) {
      result = fresh;
      result.kept = which;
      if (comparison(changes, result) && keeps(kept))
        return true;
    }
    return false;
  }

  Preprocessor &pp;
};

} // namespace

std::optional<atomic_statement> parse_atomic(Preprocessor &pp, const pragma &parsed,
                                             const tokens &statement) {
  auto result = atomic_parser(pp).run(parsed, statement);
  if (result)
    return result;
  const char *form = "x++, x += value, x = x + value or x = value + x";
  std::string name = pragma_name(*parsed.directive);
  if (parsed.has(clause_id::read)) {
    form = "v = x";
    name.insert(name.size() - 1, " read");
  } else if (parsed.has(clause_id::write)) {
    form = "x = value";
    name.insert(name.size() - 1, " write");
  } else if (parsed.has(clause_id::compare)) {
    const bool captures = parsed.has(clause_id::capture);
    form = captures ? "{ v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, "
                      "{ r = x == e; if (r) { x = d; } } and the like"
                    : "x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like";
    name.insert(name.size() - 1, captures ? " compare capture" : " compare");
  } else if (parsed.has(clause_id::capture)) {
    form = "v = x++, v = x += value, or { v = x; x = value; } and the like";
    name.insert(name.size() - 1, " capture");
  }
  report_error(pp, statement[0].getLocation(), "the statement of " + name + " must be " + form);
  return {};
}

} // namespace weft_oss

// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <algorithm>

namespace weft_oss {

using namespace clang;

namespace {

class loop_parser {
 public:
  loop_parser(Preprocessor &preprocessor, const pragma &of)
      : pp(preprocessor), parsed(of), name(pragma_name(*of.directive)) {}

  std::optional<loop_nest> run(const tokens &statement) {
    const bool iterates = parsed.directive->id == directive_id::taskiter;
    tokens rest = statement;
    const std::size_t behind = behind_prefix(rest, 0);
    if (iterates && behind < rest.size() && rest[behind].is(tok::kw_while)) {
      rest = slice(rest, behind, rest.size());
      const std::size_t close = closing(rest, 1);
      nest.condition = slice(rest, 2, close);
      nest.body = slice(rest, close + 1, rest.size());
      return nest;
    }
    for (unsigned i = 0; i < parsed.loops; ++i) {
      while (i > 0 && rest[0].is(tok::l_brace) && closing(rest, 0) + 1 == rest.size())
        rest = slice(rest, 1, rest.size() - 1); // a loop that is alone in its braces
      const std::size_t begin = behind_prefix(rest, 0);
      const tokens prefix = slice(rest, 0, begin);
      rest = slice(rest, begin, rest.size());
      if (rest.empty() || rest[0].isNot(tok::kw_for)) {
        fail(rest.empty() ? parsed.where : rest[0].getLocation(),
             i > 0 ? "clause 'collapse' of " + name + " asks for " + std::to_string(parsed.loops) +
                         " loops, one directly in the other"
             : iterates ? name + " needs a for or a while loop behind it"
                        : name + " needs a for loop behind it");
        return {};
      }
      const std::size_t close = closing(rest, 1);
      if (!head(rest[0], slice(rest, 2, close)) || !take_prefix(prefix))
        return {};
      rest = slice(rest, close + 1, rest.size());
    }
    nest.body = rest;
    if (!clauses())
      return {};
    return nest;
  }

 private:
  void fail(SourceLocation where, const std::string &text) { report_error(pp, where, text); }
  [[nodiscard]] static bool is(const tokens &all, std::size_t i, std::string_view identifier) {
    return i < all.size() && all[i].is(tok::identifier) && word(all[i]) == identifier;
  }

  /// Keeps what is in front of a loop. A label is not needed: nothing outside may jump to the loop.
  bool take_prefix(const tokens &all) {
    tokens &kept = nest.heads.back().prefix;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].is(tok::annot_pragma_openmp) || (is_kept_pragma(all[i]) && spelling(pp, all[i]).find("#pragma omp") != std::string::npos)) {
        fail(all[i].getLocation(), "the loop of " + name + " cannot have a directive of OpenMP: write "
                                   "that in front of a loop inside, or leave it out");
        return false;
      }
      if (all[i].is(tok::identifier) && all[i + 1].is(tok::colon)) {
        ++i;
        continue;
      }
      std::size_t end = i; // the last token
      if (all[i].isOneOf(tok::l_square, tok::kw___attribute))
        end = closing(all, all[i].is(tok::l_square) ? i : i + 1);
      for (; i < end; ++i)
        kept.push_back(all[i]);
      kept.push_back(all[i]);
    }
    return true;
  }

  /// The loops' variables are the task's own, whatever a clause says.
  bool clauses() {
    bool right = true;
    const auto is_variable = [&](const Token &token) {
      return std::ranges::any_of(
          nest.heads, [&](const loop_head &loop) { return word(loop.name) == word(token); });
    };
    for (const variable &v : parsed.variables)
      if (is_variable(v.name)) {
        fail(v.name.getLocation(), "variable " + quoted(word(v.name)) + " counts the loop of " +
                                       name + "; it is private without a clause");
        right = false;
      }
    for (const item &it : parsed.items)
      if (it.base && it.plain && is_variable(*it.base)) {
        fail(it.where, "variable " + quoted(word(*it.base)) + " counts the loop of " + name +
                           "; it is no data for an item");
        right = false;
      }
    return right;
  }

  bool head(const Token &at, const tokens &all) {
    const auto parts = split(all, tok::semi);
    if (parts.size() != 3) {
      fail(at.getLocation(), "the loop of " + name + " must be for (i = first; i < limit; ++i)");
      return false;
    }
    loop_head loop;
    if (!start(loop, parts[0], at) || !condition(loop, parts[1], at) || !step(loop, parts[2], at))
      return false;
    for (const loop_head &outer : nest.heads)
      for (const tokens *some : {&loop.first, &loop.limit, &loop.step})
        for (const Token &token : *some)
          if (token.is(tok::identifier) && word(token) == word(outer.name)) {
            fail(token.getLocation(),
                 "the loops of clause 'collapse' must not depend on each other: " +
                     quoted(word(outer.name)));
            return false;
          }
    nest.heads.push_back(std::move(loop));
    return true;
  }

  bool start(loop_head &loop, const tokens &all, const Token &at) {
    const auto assign =
        std::ranges::find_if(all, [](const Token &token) { return token.is(tok::equal); });
    const auto before = static_cast<std::size_t>(assign - all.begin());
    const auto several = [&](std::size_t from, std::size_t to) {
      return loosest(slice(all, from, to)) == k_comma;
    };
    if (assign == all.end() || before == 0 || all[before - 1].isNot(tok::identifier) ||
        before + 1 == all.size() || several(0, before - 1) || several(before + 1, all.size())) {
      fail(all.empty() ? at.getLocation() : all[0].getLocation(),
           "the loop of " + name + " must begin with one variable: i = first");
      return false;
    }
    loop.name = all[before - 1];
    loop.type = slice(all, 0, before - 1);
    loop.first = slice(all, before + 1, all.size());
    return true;
  }

  bool condition(loop_head &loop, const tokens &all, const Token &at) {
    const std::string_view i = word(loop.name);
    const auto relation = [](const Token &token, bool swapped) -> const char * {
      switch (token.getKind()) {
      case tok::less:
        return swapped ? "greater" : "less";
      case tok::lessequal:
        return swapped ? "greater_equal" : "less_equal";
      case tok::greater:
        return swapped ? "less" : "greater";
      case tok::greaterequal:
        return swapped ? "less_equal" : "greater_equal";
      case tok::exclaimequal:
        return "unequal";
      default:
        return nullptr;
      }
    };
    // The limit is an operand of the comparison, which groups to the left: i < n && m and n < i == m are no limits.
    const auto takes = [&](std::size_t sign, std::size_t from, std::size_t to, int tighter_than) {
      loop.relation = relation(all[sign], from == 0);
      loop.limit = slice(all, from, to);
      return loop.relation && loosest(loop.limit) > tighter_than;
    };
    const bool first = all.size() > 2 && is(all, 0, i),
               last = all.size() > 2 && is(all, all.size() - 1, i);
    if (!(first && takes(1, 2, all.size(), precedence(all[1]))) &&
        !(last && takes(all.size() - 2, 0, all.size() - 2, precedence(all[all.size() - 2]) - 1))) {
      fail(all.empty() ? at.getLocation() : all[0].getLocation(),
           "the condition of the loop of " + name + " must compare " + quoted(i) +
               " with a limit by <, <=, >, >= or !=");
      return false;
    }
    return true;
  }

  bool step(loop_head &loop, const tokens &all, const Token &at) {
    const std::string_view i = word(loop.name);
    const auto unit = [&](const Token &token) {
      loop.down = token.is(tok::minusminus);
      return token.isOneOf(tok::plusplus, tok::minusminus);
    };
    bool right = false;
    if (all.size() == 2) {
      right = (is(all, 0, i) && unit(all[1])) || (is(all, 1, i) && unit(all[0]));
    } else if (all.size() > 2 && is(all, 0, i) && all[1].isOneOf(tok::plusequal, tok::minusequal)) {
      loop.down = all[1].is(tok::minusequal);
      loop.step = slice(all, 2, all.size());
      right = loosest(loop.step) > k_assigns;
    } else if (all.size() > 4 && is(all, 0, i) && all[1].is(tok::equal)) {
      if (is(all, 2, i) && all[3].isOneOf(tok::plus, tok::minus)) { // i = i + n
        loop.down = all[3].is(tok::minus);
        loop.step = slice(all, 4, all.size());
        right = loosest(loop.step) >= k_adds + (loop.down ? 1 : 0); // i - a + b is no i - (a + b)
      } else if (is(all, all.size() - 1, i) && all[all.size() - 2].is(tok::plus)) { // i = n + i
        loop.step = slice(all, 2, all.size() - 2);
        right = loosest(loop.step) >= k_adds;
      }
    }
    if (!right) {
      fail(all.empty() ? at.getLocation() : all[0].getLocation(),
           "the loop of " + name + " must step by ++" + std::string(i) + ", --" + std::string(i) +
               ", " + std::string(i) + " += n or " + std::string(i) + " -= n");
      return false;
    }
    const bool upwards = std::string_view(loop.relation).starts_with("less");
    if (loop.step.empty() && std::string_view(loop.relation) != "unequal" && upwards == loop.down) {
      fail(all[0].getLocation(), "the loop of " + name + " steps away from its limit");
      return false;
    }
    return true;
  }

  Preprocessor &pp;
  const pragma &parsed;
  const std::string name;
  loop_nest nest;
};

} // namespace

std::optional<loop_nest> parse_loops(Preprocessor &pp, const pragma &parsed,
                                     const tokens &statement) {
  return loop_parser(pp, parsed).run(statement);
}

} // namespace weft_oss

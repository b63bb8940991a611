// SPDX-License-Identifier: Apache-2.0
#include "globals.hpp"

#include "locals.hpp"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <climits>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace weft_oss {

using namespace clang;

namespace {

/// Reads a file by its tokens. A declaration is what lies between the ends of others: its words, brackets with what is inside as one, without attributes.
class declaration_reader {
 public:
  using declared = file_variables::declared;
  using function = file_variables::function;

  declaration_reader(const LangOptions &language, llvm::StringRef text)
      : m_raw(SourceLocation(), language, text.begin(), text.begin(), text.end()) {}

  void run(std::multimap<std::string, declared> &variables, std::vector<function> &functions) {
    for (raw_word now; next(now);)
      take(now);
    variables = std::move(m_all);
    functions = std::move(m_functions);
  }

 private:
  enum class kind : std::uint8_t { a_namespace, a_class, other };
  using names = std::vector<std::multimap<std::string, declared>::iterator>;
  struct condition;

  void take(raw_word &now) {
    if (m_ends && !now.is_any({"else"}))
      end_heads();
    m_ends.reset();
    switch (now.kind) {
    case tok::l_brace:
      open();
      break;
    case tok::r_brace:
      close();
      break;
    case tok::semi:
      end();
      end_statement();
      break;
    case tok::l_paren:
    case tok::l_square:
      read_bracket(now);
      break;
    case tok::less:
      if (may_have_arguments())
        skip_arguments();
      else
        m_words.push_back(now);
      break;
    default:
      m_words.push_back(now);
    }
  }

  /// Reads a token that is no directive and of no header of the system.
  bool next(raw_word &now) {
    if (m_again) {
      now = *std::exchange(m_again, std::nullopt);
      return true;
    }
    for (Token token;;) {
      m_raw.LexFromRawLexer(token);
      if (token.is(tok::eof))
        return false;
      if (token.is(tok::hash) && token.isAtStartOfLine()) {
        directive(token);
        continue;
      }
      if (m_of_system)
        continue;
      now = {token.getKind()};
      if (token.is(tok::raw_identifier))
        now.text = token.getRawIdentifier().str();
      else if (token.is(tok::equal))
        now.text = "=";
      return true;
    }
  }
  /// Reads a line with a directive. That of the preprocessor itself is `# 1 "file" 1 3`, where 3 is a header of the system.
  void directive(Token &token) {
    m_raw.setParsingPreprocessorDirective(true);
    m_raw.LexFromRawLexer(token);
    const bool is_marker = token.is(tok::numeric_constant);
    if (token.is(tok::raw_identifier))
      branch(token.getRawIdentifier());
    bool of_system = false, behind_name = false;
    while (token.isNot(tok::eod) && token.isNot(tok::eof)) {
      of_system |= behind_name && token.is(tok::numeric_constant) && token.getLength() == 1 &&
                   m_raw.getBufferLocation()[-1] == '3';
      behind_name |= token.is(tok::string_literal);
      m_raw.LexFromRawLexer(token);
    }
    if (is_marker)
      m_of_system = of_system;
  }
  /// Each branch of an #if begins alike. What one declares ends with it, and holds again behind the #endif, because it is not known which is
  /// compiled: in its scope, or in that which the last branch has in its place.
  void branch(llvm::StringRef directive) {
    if (directive == "if" || directive == "ifdef" || directive == "ifndef") {
      m_conditions.push_back({m_open, m_words, m_statement, m_ends, {}});
    } else if (directive.starts_with("el") && !m_conditions.empty()) {
      leave_branch(m_conditions.back());
      begin_branch(m_conditions.back());
    } else if (directive == "endif" && !m_conditions.empty()) {
      const std::vector<kept> of_branches = std::move(m_conditions.back().of_branches);
      m_conditions.pop_back();
      for (const kept &one : of_branches)
        list_at(one.depth, one.in_head).push_back(again(one.known));
    }
  }
  void leave_branch(condition &of) {
    if (m_ends)
      end_heads();
    const auto leave = [&](std::size_t depth, bool in_head, const names &all, const names &before) {
      for (std::size_t i = 0; i < all.size(); ++i)
        if ((i >= before.size() || before[i] != all[i]) && all[i]->second.end == UINT_MAX) {
          all[i]->second.end = place();
          of.of_branches.push_back({depth, in_head, all[i]});
        }
    };
    for (std::size_t depth = 0; depth < m_open.size(); ++depth) {
      const opened &now = m_open[depth];
      const opened none{}, &before = depth < of.open.size() ? of.open[depth] : none;
      leave(depth, true, now.statement, depth == of.open.size() ? of.statement : before.statement);
      leave(depth, false, now.variables, before.variables);
      if (now.function && now.function != before.function)
        m_functions[*now.function].end = place();
    }
    leave(m_open.size(), true, m_statement, m_open.size() < of.open.size() ? of.open[m_open.size()].statement : of.statement);
  }
  /// What was open at the #if is so again, if the branch in front has closed it.
  void begin_branch(const condition &at) {
    m_open = at.open;
    m_words = at.in_front;
    m_statement = at.statement;
    m_ends = at.ends;
    const auto open_again = [&](names &all) {
      for (auto &known : all)
        if (known->second.end != UINT_MAX)
          known = again(known);
    };
    for (opened &scope : m_open) {
      open_again(scope.statement);
      open_again(scope.variables);
      if (scope.function)
        m_functions[*scope.function].end = UINT_MAX;
    }
    open_again(m_statement);
  }
  /// Declares a name once more, from here on.
  names::value_type again(names::value_type known) {
    declared one = known->second;
    one.begin = place();
    one.end = UINT_MAX;
    return m_all.emplace(known->first, one);
  }
  /// Returns the names of a scope or of the heads in front of it; where there is no such scope, those of the innermost block or of the statement.
  names &list_at(std::size_t depth, bool in_head) {
    if (depth < m_open.size())
      return in_head ? m_open[depth].statement : m_open[depth].variables;
    return in_head || !in_block() ? m_statement : m_open.back().variables;
  }
  /// Reads to the bracket that closes.
  void skip(tok::TokenKind opens, tok::TokenKind closes) {
    int depth = 1;
    for (raw_word now; depth > 0 && next(now);)
      depth += now.kind == opens ? 1 : now.kind == closes ? -1 : 0;
  }
  /// Reads a bracket. An attribute is left out with its name; the parenthesis of `decltype` belongs to the type.
  void read_bracket(raw_word &bracket) {
    const bool is_square = bracket.is(tok::l_square);
    const words around = std::exchange(m_words, {});
    for (raw_word now; next(now) && !now.is(is_square ? tok::r_square : tok::r_paren);)
      if (now.is(tok::r_brace)) { // it is not closed
        m_again = now;
        break;
      } else if (now.is(tok::l_brace)) {
        read_block();
      } else if (now.is(tok::l_paren) || now.is(tok::l_square)) {
        read_bracket(now);
      } else {
        m_words.push_back(now);
      }
    bracket.inside = std::exchange(m_words, around);
    const raw_word in_front = m_words.empty() ? raw_word() : m_words.back();
    if (is_square && bracket.first() == tok::l_square)
      return;
    if (!is_square && in_front.is_any({"alignas", "__attribute__"})) {
      m_words.pop_back();
    } else if (is_square || !in_front.is_any({"decltype", "__typeof__"})) {
      m_words.push_back(std::move(bracket));
      if (const std::size_t key = key_of_head(m_words, m_words.size() - 1); key < m_words.size() && in_block()) {
        std::vector<std::string> found;
        add_of_head(m_words[key], m_words.back().inside, found);
        add_locals(found, m_statement);
      }
    }
  }
  /// Reads a block in a bracket, most often that of a lambda.
  void read_block() {
    const std::size_t around = m_open.size();
    const std::vector<std::string> found = names_of_head();
    push(kind::other, std::move(m_words));
    add_locals(found, m_open.back().variables);
    for (raw_word now; m_open.size() > around && next(now);)
      take(now);
    m_ends.reset(); // the statement around the bracket goes on
  }
  /// Returns whether a `<` is in front of template arguments. In what a variable begins with, in statements and behind
  /// `operator` it may be a comparison, which has no end.
  [[nodiscard]] bool may_have_arguments() const {
    return is_global() && !m_words.empty() && m_words.back().kind == tok::raw_identifier &&
           !has_any({"=", "operator"});
  }
  void skip_arguments() {
    int depth = 1;
    for (raw_word now; depth > 0 && next(now);) {
      if (now.kind == tok::l_paren)
        skip(tok::l_paren, tok::r_paren);
      else if (now.kind == tok::l_brace)
        skip(tok::l_brace, tok::r_brace);
      else if (now.kind == tok::semi || now.kind == tok::r_brace) { // it is a comparison
        m_again = now;
        return;
      }
      depth += now.kind == tok::less             ? 1
               : now.kind == tok::greater        ? -1
               : now.kind == tok::greatergreater ? -2
                                                 : 0;
    }
  }

  [[nodiscard]] bool has(std::string_view text) const {
    return std::ranges::any_of(m_words, [&](const raw_word &w) { return w.text == text; });
  }
  [[nodiscard]] bool has_any(std::initializer_list<std::string_view> all) const {
    return std::ranges::any_of(all, [&](std::string_view text) { return has(text); });
  }
  [[nodiscard]] bool has_kind(tok::TokenKind kind) const {
    return std::ranges::any_of(m_words, [&](const raw_word &w) { return w.kind == kind; });
  }
  [[nodiscard]] bool in_namespace() const {
    return m_open.empty() || m_open.back().what == kind::a_namespace;
  }
  [[nodiscard]] bool in_class() const { return !m_open.empty() && m_open.back().what == kind::a_class; }
  [[nodiscard]] bool in_block() const { return !m_open.empty() && m_open.back().what == kind::other; }

  void open() {
    const bool initializes = has("=");
    const bool takes = has_kind(tok::l_paren);
    if (!initializes && (has("namespace") || (has("extern") && m_words.back().kind == tok::string_literal))) {
      enter(true);
    } else if (!initializes && !takes && has_any({"class", "struct", "union", "enum"})) {
      // The declaration goes on behind the body: struct { } name;
      const kind what = has("enum") ? kind::other : kind::a_class;
      push(what, std::move(m_words));
    } else if (!initializes && takes && !in_block() && is_member_initializer()) {
      skip(tok::l_brace, tok::r_brace);
      m_words.push_back({tok::l_brace});
    } else if (!may_have_names() || m_words.empty() || (takes && !initializes) ||
               (initializes && !is_global()) || m_words.back().kind == tok::l_brace) { // behind `: member{}`
      const bool of_class = takes && in_class();
      const std::optional<bool> outside = takes ? method_outside() : std::nullopt;
      const bool has_this = of_class ? !has_any({"static", "friend"}) : outside.value_or(false);
      const std::vector<std::string> found = names_of_head();
      end();
      enter(false); // a function, a statement, a local constant, which may be a lambda
      add_locals(found, m_open.back().variables);
      if (of_class || outside) {
        m_open.back().function = m_functions.size();
        m_functions.push_back({has_this, place(), UINT_MAX, !of_class});
      }
    } else {
      skip(tok::l_brace, tok::r_brace);
      m_words.push_back({tok::l_brace});
    }
  }
  /// Returns the index of the first parenthesis, or the size.
  [[nodiscard]] std::size_t parameters() const {
    return static_cast<std::size_t>(std::ranges::find_if(m_words, [](const raw_word &w) { return w.is(tok::l_paren); }) - m_words.begin());
  }
  /// Keeps whether a function that a class declares has a `this`, for its definition outside. Of those of one name all must.
  void keep_method() {
    const std::size_t at = parameters();
    if (!in_class() || at == 0 || at == m_words.size() || !m_words[at - 1].is_name())
      return;
    std::string of; // the last word of `class name final : public base`
    for (const raw_word &each : m_open.back().goes_on)
      if (each.is(tok::colon))
        break;
      else if (each.is_name() && !each.is_any({"final"}))
        of = each.text;
    const bool has_this = !has_any({"static", "friend"});
    const auto known = m_methods.try_emplace({of, m_words[at - 1].text}, has_this).first;
    known->second = known->second && has_this;
  }
  /// Returns whether the function `name::function(...)` has a `this`, if a class of that name declares one.
  [[nodiscard]] std::optional<bool> method_outside() const {
    const std::size_t at = parameters();
    if (!in_namespace() || at < 3 || at == m_words.size() || !m_words[at - 2].is(tok::coloncolon))
      return {};
    const auto known = m_methods.find({m_words[at - 3].text, m_words[at - 1].text});
    return known == m_methods.end() ? std::nullopt : std::optional<bool>(known->second);
  }
  /// Returns whether a brace is behind the name of a member or a base: `name(int n) : member{n} { }`.
  [[nodiscard]] bool is_member_initializer() const {
    const bool is_behind_name = m_words.back().is_name() || m_words.back().is(tok::greater) || m_words.back().is(tok::greatergreater);
    return is_behind_name && initializers() < m_words.size();
  }
  /// Returns the index of the colon in front of the initializers of members, or the size.
  [[nodiscard]] std::size_t initializers() const {
    bool has_parameters = false;
    for (std::size_t i = 0; i < m_words.size(); ++i)
      if (m_words[i].is(tok::colon) && has_parameters && !m_words[i - 1].is_any({"public", "protected", "private"}))
        return i;
      else
        has_parameters |= m_words[i].is(tok::l_paren);
    return m_words.size();
  }
  /// Returns the names of the parameters of a function or a lambda, and those that a lambda's brackets begin: [name = value].
  [[nodiscard]] std::vector<std::string> names_of_head() const {
    std::vector<std::string> found;
    bool has_parameters = !in_block();
    const std::size_t end = in_block() ? m_words.size() : initializers();
    for (std::size_t i = 0; i < end; ++i) {
      const raw_word &now = m_words[i];
      if (now.is(tok::l_square)) {
        found.clear();
        has_parameters = true;
        add_captures(now.inside, found);
      } else if (now.is(tok::l_paren) && has_parameters) {
        add_parameters(now.inside, found);
      }
    }
    return found;
  }
  void enter(bool is_namespace) { push(is_namespace ? kind::a_namespace : kind::other, {}); }
  void push(kind what, words goes_on) {
    m_open.push_back({what, std::move(goes_on), {}, std::exchange(m_statement, {}), place(), {}});
    m_words.clear();
  }
  void close() {
    m_words.clear();
    if (m_open.empty())
      return;
    for (const auto &known : m_open.back().variables)
      known->second.end = place();
    if (m_open.back().function)
      m_functions[*m_open.back().function].end = place();
    m_words = std::move(m_open.back().goes_on);
    m_statement = std::move(m_open.back().statement);
    m_open.pop_back();
    if (!m_words.empty())
      m_words.push_back({tok::r_brace}); // the type
    else
      end_statement();
  }
  /// Ends what the heads of a statement declare, unless an `else` follows.
  void end_statement() {
    if (!m_statement.empty())
      m_ends = place();
  }
  void end_heads() {
    for (const auto &known : m_statement)
      known->second.end = *m_ends;
    m_statement.clear();
    m_ends.reset();
  }

  [[nodiscard]] bool is_global() const {
    return in_namespace() || has_any({"static", "extern", "thread_local"});
  }
  /// Returns whether the declaration may be one of global or static variables, or of constants.
  [[nodiscard]] bool may_have_names() const {
    return (is_global() || in_class() || has_any({"const", "constexpr"})) &&
           !has_any({"using", "typedef", "template", "friend", "operator", "namespace", "concept",
                     "static_assert", "asm"});
  }
  void end() {
    keep_method();
    if (in_block() && !is_global()) {
      std::vector<std::string> found;
      add_local(without_prefix(m_words), false, found);
      add_locals(found, m_open.back().variables);
    }
    if (may_have_names())
      take_names(); // a constant behind those: it is no other variable
    m_words.clear();
  }
  /// Takes the names of the variables: the last word of each in front of what it begins with, or of its extents.
  void take_names() {
    bool first = true;
    for (auto begin = m_words.begin(); begin != m_words.end(); first = false) {
      const auto comma = std::find_if(begin, m_words.end(),
                                      [](const raw_word &each) { return each.kind == tok::comma; });
      take_name({begin, comma}, first);
      begin = comma == m_words.end() ? comma : comma + 1;
    }
  }
  void take_name(words one, bool has_type) {
    const auto behind = std::ranges::find_if(one, [](const raw_word &each) {
      return each.text == "=" || each.kind == tok::l_square || each.kind == tok::l_brace ||
             each.kind == tok::l_paren;
    });
    if (behind != one.end() && behind->kind == tok::l_paren) {
      // `int (*p)(int)` is a variable, and what begins with a literal or a sign; else it is a function.
      if (behind->first() == tok::star || behind->first() == tok::amp)
        add(behind->name(), false, behind->first() == tok::star);
      if (!begins_value(behind->first()))
        return;
    }
    one.erase(behind, one.end());
    if (one.empty() || one.back().kind != tok::raw_identifier)
      return;
    const auto is_key = [](const raw_word &w) {
      return w.text == "class" || w.text == "struct" || w.text == "union" || w.text == "enum";
    };
    // `struct name;` declares no variable, nor does a word alone.
    if (has_type && std::all_of(one.begin(), one.end() - 1, is_key))
      return;
    // A constant stays one. `const` in front of a `*` is about what the pointer points to.
    const auto star = std::find_if(one.rbegin(), one.rend(),
                                   [](const raw_word &w) { return w.kind == tok::star; });
    if (has_type)
      m_const_type = std::any_of(one.begin(), star == one.rend() ? one.end() : star.base(),
                                 [](const raw_word &w) { return w.text == "const"; });
    const bool is_const =
        star == one.rend() ? m_const_type
                           : std::any_of(star.base(), one.end(),
                                         [](const raw_word &w) { return w.text == "const"; });
    add(one.back().text, is_const || has("constexpr"), star != one.rend());
  }
  [[nodiscard]] static bool begins_value(tok::TokenKind kind) {
    return kind == tok::numeric_constant || kind == tok::char_constant || kind == tok::string_literal ||
           kind == tok::minus || kind == tok::plus;
  }
  void add(const std::string &name, bool is_constant, bool is_pointer) {
    const bool is_member = in_class() && !is_global();
    if (!is_constant && !is_member && !is_global())
      return;
    // A class knows its members before they are declared.
    const auto what = is_member     ? declared::kind::member
                      : is_constant ? declared::kind::constant
                                    : declared::kind::variable;
    const auto known = m_all.emplace(
        name, declared{what, is_pointer, !in_namespace(),
                       in_class() ? m_open.back().begin : place(), UINT_MAX});
    if (!m_open.empty())
      m_open.back().variables.push_back(known);
  }
  /// Adds local variables, which hold from here on.
  void add_locals(const std::vector<std::string> &all, names &scope) {
    for (const std::string &name : all)
      scope.push_back(m_all.emplace(name, declared{declared::kind::local, false, true, place(), UINT_MAX}));
  }
  [[nodiscard]] unsigned place() const {
    return static_cast<unsigned>(m_raw.getBufferLocation() - m_raw.getBuffer().begin());
  }

  struct opened {
    kind what;
    words goes_on; ///< the declaration around
    names variables;
    names statement; ///< what the heads around declare
    unsigned begin;
    std::optional<std::size_t> function; ///< of the class
  };
  struct kept {
    std::size_t depth;
    bool in_head; ///< of the scope
    names::value_type known;
  };
  struct condition {
    std::vector<opened> open;
    words in_front;
    names statement;
    std::optional<unsigned> ends;
    std::vector<kept> of_branches; ///< what those that have ended declare
  };
  Lexer m_raw;
  std::optional<raw_word> m_again; ///< the next token, which was read before
  std::multimap<std::string, declared> m_all;
  std::vector<function> m_functions;
  std::map<std::pair<std::string, std::string>, bool> m_methods; // of class and name
  words m_words;
  names m_statement; ///< what the heads of the statement that is read declare
  std::optional<unsigned> m_ends; ///< where that statement ends, if no `else` follows
  std::vector<opened> m_open;
  std::vector<condition> m_conditions; // what is open where each #if begins
  bool m_of_system = false, m_const_type = false;
};

} // namespace

file_variables::file_variables(const SourceManager &sources, const LangOptions &language, FileID file)
    : m_sources(sources) {
  declaration_reader(language, m_sources.getBufferData(file)).run(m_all, m_functions);
}

const file_variables::declared *file_variables::nearest(const Token &name, bool with_locals) const {
  const unsigned here = m_sources.getDecomposedExpansionLoc(name.getLocation()).second;
  const declared *found = nullptr;
  const auto [first, last] = m_all.equal_range(name.getIdentifierInfo()->getName().str());
  for (auto known = first; known != last; ++known)
    if (const declared &one = known->second;
        one.begin <= here && here < one.end && (with_locals || one.what != declared::kind::local))
      found = !found || found->begin <= one.begin ? &one : found;
  return found;
}

bool file_variables::is_local(const Token &name) const {
  const declared *const found = nearest(name, /*with_locals=*/true);
  return found && found->what == declared::kind::local;
}

bool file_variables::has(const Token &name) const {
  if (const declared *const found = nearest(name))
    return found->what == declared::kind::variable;
  const auto [first, last] = m_all.equal_range(name.getIdentifierInfo()->getName().str());
  return std::any_of(first, last, [](const auto &known) {
    return known.second.what == declared::kind::variable;
  });
}

const file_variables::function *file_variables::member_function_at(SourceLocation where) const {
  const unsigned here = m_sources.getDecomposedExpansionLoc(where).second;
  const function *found = nullptr;
  for (const function &one : m_functions)
    if (one.begin <= here && here < one.end && (!found || found->begin < one.begin))
      found = &one;
  return found;
}

} // namespace weft_oss

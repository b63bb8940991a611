// SPDX-License-Identifier: Apache-2.0
#include "globals.hpp"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace weft_oss {

using namespace clang;

namespace {

/// Reads a file by its tokens. A declaration is what lies between the ends of others: its words, without what is in its brackets.
class declaration_reader {
 public:
  declaration_reader(const LangOptions &language, llvm::StringRef text)
      : m_raw(SourceLocation(), language, text.begin(), text.begin(), text.end()) {}

  std::set<std::string> run() {
    for (word now; next(now);) {
      switch (now.kind) {
      case tok::l_brace:
        open();
        break;
      case tok::r_brace:
        close();
        break;
      case tok::semi:
        end();
        break;
      case tok::l_paren:
        m_words.push_back(now);
        m_words.back().first = skip(tok::l_paren, tok::r_paren);
        break;
      case tok::l_square:
        m_words.push_back(now);
        skip(tok::l_square, tok::r_square);
        break;
      case tok::less: // of template arguments, but in what a variable begins with
        m_words.push_back(now);
        if (!has("=") && m_words.size() > 1 && m_words[m_words.size() - 2].kind == tok::raw_identifier)
          skip_arguments();
        break;
      default:
        m_words.push_back(now);
      }
    }
    return std::move(m_names);
  }

 private:
  struct word {
    tok::TokenKind kind = tok::unknown;
    std::string text;
    tok::TokenKind first = tok::unknown; ///< of what is in a parenthesis
  };

  /// Reads a token that is no directive and of no header of the system.
  bool next(word &now) {
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
      now = {token.getKind(), {}, tok::unknown};
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
  /// Reads to the bracket that closes; returns the kind of the first token inside.
  tok::TokenKind skip(tok::TokenKind opens, tok::TokenKind closes) {
    tok::TokenKind first = tok::unknown;
    int depth = 1;
    for (word now; depth > 0 && next(now);) {
      if (first == tok::unknown)
        first = now.kind;
      depth += now.kind == opens ? 1 : now.kind == closes ? -1 : 0;
      if (depth == 1 && opens == tok::l_paren && now.kind == tok::raw_identifier)
        m_in_parenthesis = now.text;
    }
    return first;
  }
  void skip_arguments() {
    int depth = 1;
    for (word now; depth > 0 && next(now);) {
      if (now.kind == tok::l_paren)
        skip(tok::l_paren, tok::r_paren);
      depth += now.kind == tok::less             ? 1
               : now.kind == tok::greater        ? -1
               : now.kind == tok::greatergreater ? -2
                                                 : 0;
    }
  }

  [[nodiscard]] bool has(std::string_view text) const {
    return std::ranges::any_of(m_words, [&](const word &w) { return w.text == text; });
  }
  [[nodiscard]] bool has_any(std::initializer_list<std::string_view> all) const {
    return std::ranges::any_of(all, [&](std::string_view text) { return has(text); });
  }
  [[nodiscard]] bool has_kind(tok::TokenKind kind) const {
    return std::ranges::any_of(m_words, [&](const word &w) { return w.kind == kind; });
  }
  [[nodiscard]] bool in_namespace() const { return m_open.empty() || m_open.back().is_namespace; }

  void open() {
    const bool initializes = has("=");
    const bool takes = has_kind(tok::l_paren);
    if (!initializes && (has("namespace") || (has("extern") && m_words.back().kind == tok::string_literal))) {
      enter(true);
    } else if (!initializes && !takes && has_any({"class", "struct", "union", "enum"})) {
      m_open.push_back({false, std::move(m_words)}); // the declaration goes on behind the body: struct { } name;
      m_words.clear();
    } else if (m_words.empty() || (takes && !initializes) || !may_be_variable()) {
      enter(false); // a function, a statement
    } else {
      skip(tok::l_brace, tok::r_brace);
      m_words.push_back({tok::l_brace, {}, tok::unknown});
    }
  }
  void enter(bool is_namespace) {
    m_open.push_back({is_namespace, {}});
    m_words.clear();
  }
  void close() {
    m_words.clear();
    if (m_open.empty())
      return;
    m_words = std::move(m_open.back().words);
    m_open.pop_back();
    if (!m_words.empty())
      m_words.push_back({tok::r_brace, {}, tok::unknown}); // the type
  }

  /// Returns whether the declaration may be one of global or static variables.
  [[nodiscard]] bool may_be_variable() const {
    return (in_namespace() || has_any({"static", "extern", "thread_local"})) &&
           !has_any({"using", "typedef", "template", "friend", "operator", "namespace", "concept",
                     "static_assert", "constexpr", "asm"});
  }
  void end() {
    if (may_be_variable())
      take_names();
    m_words.clear();
  }
  /// Takes the names of the variables: the last word of each in front of what it begins with, or of its extents.
  void take_names() {
    bool first = true;
    for (auto begin = m_words.begin(); begin != m_words.end(); first = false) {
      const auto comma = std::find_if(begin, m_words.end(),
                                      [](const word &each) { return each.kind == tok::comma; });
      take_name({begin, comma}, first);
      begin = comma == m_words.end() ? comma : comma + 1;
    }
  }
  void take_name(std::vector<word> one, bool has_type) {
    const auto behind = std::ranges::find_if(one, [](const word &each) {
      return each.text == "=" || each.kind == tok::l_square || each.kind == tok::l_brace ||
             each.kind == tok::l_paren;
    });
    if (behind != one.end() && behind->kind == tok::l_paren) {
      // `int (*p)(int)` is a variable, and what begins with a literal; else it is a function.
      if (behind->first == tok::star || behind->first == tok::amp)
        m_names.insert(m_in_parenthesis);
      if (!is_literal(behind->first))
        return;
    }
    one.erase(behind, one.end());
    if (one.empty() || one.back().kind != tok::raw_identifier)
      return;
    const auto is_key = [](const word &w) {
      return w.text == "class" || w.text == "struct" || w.text == "union" || w.text == "enum";
    };
    // `struct name;` declares no variable, nor does a word alone.
    if (has_type && std::all_of(one.begin(), one.end() - 1, is_key))
      return;
    // A constant stays one. `const` in front of a `*` is about what the pointer points to.
    const auto star = std::find_if(one.rbegin(), one.rend(),
                                   [](const word &w) { return w.kind == tok::star; });
    if (has_type)
      m_const_type = std::any_of(one.begin(), star == one.rend() ? one.end() : star.base(),
                                 [](const word &w) { return w.text == "const"; });
    const bool is_const =
        star == one.rend() ? m_const_type
                           : std::any_of(star.base(), one.end(),
                                         [](const word &w) { return w.text == "const"; });
    if (!is_const)
      m_names.insert(one.back().text);
  }
  [[nodiscard]] static bool is_literal(tok::TokenKind kind) {
    return kind == tok::numeric_constant || kind == tok::char_constant || kind == tok::string_literal;
  }

  struct opened {
    bool is_namespace;
    std::vector<word> words; ///< of the declaration that goes on
  };
  Lexer m_raw;
  std::set<std::string> m_names;
  std::vector<word> m_words;
  std::vector<opened> m_open;
  std::string m_in_parenthesis; ///< the last word of the last one
  bool m_of_system = false, m_const_type = false;
};

} // namespace

std::set<std::string> global_variables(const Preprocessor &pp) {
  const SourceManager &sources = pp.getSourceManager();
  return declaration_reader(pp.getLangOpts(), sources.getBufferData(sources.getMainFileID())).run();
}

} // namespace weft_oss

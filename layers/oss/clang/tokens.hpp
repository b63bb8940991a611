// SPDX-License-Identifier: Apache-2.0
// What the plugin does with tokens: read the statement behind a pragma, write new text between the user's tokens.
#pragma once

#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/Token.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft_oss {

using tokens = std::vector<clang::Token>;

/// Names the buffers of text that the user has not written.
inline constexpr const char *k_buffer = "<#pragma oss>";

/// Reports an error or a warning in OmpSs-2's words at a token of the user.
void report_error(clang::Preprocessor &pp, clang::SourceLocation where, const std::string &text);
void report_warning(clang::Preprocessor &pp, clang::SourceLocation where, const std::string &text);
void report_note(clang::Preprocessor &pp, clang::SourceLocation where, const std::string &text);

/// Returns how the user has written a token.
std::string spelling(clang::Preprocessor &pp, const clang::Token &token);

/// Returns the file and line of a place, as compilers write them.
std::string file_and_line(const clang::SourceManager &sources, clang::SourceLocation where);

/// Returns the index of the bracket that closes the one at `open`, or the size.
std::size_t closing(const tokens &all, std::size_t open);

/// Returns whether a token is a line with a pragma of the compiler.
bool is_kept_pragma(const clang::Token &token);

/// Returns the index behind what may be in front of a statement: labels, attributes, and pragmas of the compiler, which are
/// annotations (`#pragma unroll`, `#pragma omp simd`) or lines.
std::size_t behind_prefix(const tokens &all, std::size_t begin);

/// Returns the index behind what is in front of the attributes at the end.
std::size_t in_front_of_attributes(const tokens &all);

/// Returns whether the tokens in front of a bracket declare a function.
bool declares_function(clang::Preprocessor &pp, const tokens &before_bracket);

/// @{ How tightly some operators bind: larger numbers bind tighter.
inline constexpr int k_comma = 1, k_assigns = 2, k_compares = 9, k_adds = 11, k_operand = 100;
/// @}
/// Returns how tightly a binary operator binds; 0 for any other token.
int precedence(const clang::Token &token);
/// Returns how loosely the loosest operator binds that is in no bracket; k_operand without one. Arguments of a template
/// are in brackets where what follows them shows that they are some.
int loosest(const tokens &all);

/// Returns whether a name may follow.
bool is_type_word(const clang::Token &token);

/// Returns whether the `<` at `i`, or one that is read next, compares, by what is in front of it in the brackets of a template from `begin` on: a value,
/// as a parameter is that they declare.
bool compares(const tokens &all, std::size_t begin, std::size_t i);

/// Reads the statement behind a pragma. Pragmas inside of it arrive compiled, because reading calls
/// their handlers.
///
/// The reader never looks beyond the end of a file, because the lexer that has called the handler
/// would be gone; and it looks beyond the statement's last token only where an `else` or a `catch`
/// may follow.
class statement_reader {
 public:
  explicit statement_reader(clang::Preprocessor &preprocessor) : pp(preprocessor) {}
  /// Returns false if there is no statement; the tokens that were read are in `read` either way.
  bool statement();
  /// As statement(), but for a function as well: `is_function` says which of them was read.
  bool statement_or_function(bool &is_function);
  tokens read;

  /// @{ The token that was looked at and belongs to what follows.
  [[nodiscard]] bool looked_ahead() const { return m_have; }
  [[nodiscard]] const clang::Token &ahead() const { return m_ahead; }
  /// @}
  /// Whether the file ends before the statement does.
  [[nodiscard]] bool at_end() const { return m_end; }
  /// Whether nothing ends the parameters of a template.
  [[nodiscard]] bool is_in_template() const { return m_in_template; }
  /// Whether the token that is read now may be behind the statement.
  [[nodiscard]] bool is_beyond() const { return m_beyond; }
  /// Whether the token that is read now is in a bracket of the statement.
  [[nodiscard]] bool is_in_bracket() const { return m_brackets > 0; }

 private:
  const clang::Token &peek(); // tok::eof at the end of the file
  const clang::Token &peek_beyond(); // what may be behind the statement
  [[nodiscard]] bool file_ends() const;
  void take();
  bool balanced(); // one bracket and what it encloses
  bool up_to_semicolon();
  bool up_to_colon(); // of a `case` or a `default`
  bool angles(); // <...> of a template
  bool constraint(); // of a template: operands between && and ||
  bool begins_statement(); // and no declaration: a word or a pragma of the compiler says so
  bool openmp(); // a directive of OpenMP and its statement

  clang::Preprocessor &pp;
  clang::Token m_ahead;
  bool m_have = false;
  bool m_end = false;
  bool m_beyond = false, m_in_template = false;
  int m_brackets = 0;
};

/// Collects what replaces a pragma and its statement: text of the plugin, which is
/// placed where the pragma is, and tokens of the user, which keep their places.
class writer {
 public:
  writer(clang::Preprocessor &preprocessor, clang::SourceLocation pragma)
      : pp(preprocessor), m_place(pragma) {}

  writer &operator<<(std::string_view text);
  writer &operator<<(const tokens &of_user) {
    out.insert(out.end(), of_user.begin(), of_user.end());
    return *this;
  }
  writer &operator<<(const clang::Token &of_user) {
    out.push_back(of_user);
    return *this;
  }
  /// Places the text that follows at another token of the user.
  writer &at(clang::SourceLocation where) {
    m_place = where;
    return *this;
  }
  [[nodiscard]] clang::SourceLocation place() const { return m_place; }
  /// Returns whether a macro is defined here.
  [[nodiscard]] bool defines(std::string_view macro) const {
    return pp.isMacroDefined(llvm::StringRef(macro.data(), macro.size()));
  }
  /// Returns a writer of nothing yet at the same place.
  [[nodiscard]] writer another() const { return {pp, m_place}; }
  /// Returns the file and line of the place.
  [[nodiscard]] std::string file_and_line() const {
    return weft_oss::file_and_line(pp.getSourceManager(), m_place);
  }
  /// Reports an error at a token of the user.
  void refuse(const clang::Token &token, const std::string &text) const {
    report_error(pp, token.getLocation(), text);
  }
  /// Returns how the user has written a token.
  [[nodiscard]] std::string spelled(const clang::Token &token) const { return spelling(pp, token); }
  tokens out;

 private:
  clang::Preprocessor &pp;
  clang::SourceLocation m_place;
};

} // namespace weft_oss

// SPDX-License-Identifier: Apache-2.0
// What the names in items mean: asked of the parser, and of the tokens of a file where no parser has been.
#pragma once

#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Token.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft_oss {

/// What a name in an item may mean. By the name alone: a local variable may hide a global one, and is copied likewise.
enum class meaning : std::uint8_t {
  global, ///< a global or static variable that may change
  local,  ///< another variable, or what nothing is known of
  other   ///< a constant, an enumerator, a member of an object, a type
};
meaning meaning_of(const clang::Token &name);

/// Returns whether a name is that of a global or static variable that may change.
bool names_global_variable(const clang::Token &name);

/// Returns whether a name is that of a global or static pointer, in the same way.
bool names_global_pointer(const clang::Token &name);

/// Returns whether a name is that of a member of an object, which no parameter or other local variable hides.
bool names_member(const clang::Token &name);

/// Returns whether a parameter or another local variable holds at a name, by the tokens of the file alone.
bool is_hidden(const clang::Token &name);

/// Returns whether a place is in a function that has a `this`.
bool is_in_member_function(clang::SourceLocation where);

/// The variables that a file declares in namespaces, or as static, extern or thread_local; the constants of all scopes, the
/// members of classes, and the functions in these; the parameters and other variables of functions, which hide those. By the tokens of the file as it is, headers of the system left out: what a macro
/// declares is not found.
class file_variables {
 public:
  file_variables(const clang::SourceManager &sources, const clang::LangOptions &language,
                 clang::FileID file);

  struct declared {
    enum class kind : std::uint8_t { variable, constant, member, local } what;
    bool is_pointer; ///< as it is written
    bool in_block;   ///< in a function or in a class
    unsigned begin, end; ///< where it holds, in bytes of the file
  };
  struct function {
    bool has_this;
    unsigned begin, end;
    bool is_outside; ///< of its class
  };
  /// Returns what is declared next to a name, the innermost around it, or null; local variables are passed over but `with_locals`.
  [[nodiscard]] const declared *nearest(const clang::Token &name, bool with_locals = false) const;
  /// Returns whether the innermost one around a name is a parameter or another variable of a function. What may be an expression, too, as
  /// `a * name;`, is taken for its declaration.
  [[nodiscard]] bool is_local(const clang::Token &name) const;
  /// Returns whether a name may be that of a global or static variable that may change. The nearest declaration around the
  /// name decides; if there is none, as with a namespace elsewhere, any of the file will do.
  [[nodiscard]] bool has(const clang::Token &name) const;
  /// Returns the innermost function around a place that is one of a class, or null.
  [[nodiscard]] const function *member_function_at(clang::SourceLocation where) const;

 private:
  const clang::SourceManager &m_sources;
  std::multimap<std::string, declared> m_all; ///< those of a name in the order of the file
  std::vector<function> m_functions;
};

} // namespace weft_oss

// SPDX-License-Identifier: Apache-2.0
// The global and static variables of a file that has no parser.
#pragma once

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Preprocessor.h>

#include <map>
#include <string>

namespace weft_oss {

/// The variables that a preprocessed file declares in namespaces, or as static, extern or thread_local; and the constants of all scopes.
/// By the tokens of the file as it is, headers of the system left out: what a macro declares is not found.
class file_variables {
 public:
  explicit file_variables(const clang::Preprocessor &pp);

  /// Returns whether a name may be that of a global or static variable that may change. The nearest declaration around the
  /// name decides; if there is none, as with a namespace elsewhere, any of the file will do.
  [[nodiscard]] bool has(const clang::Token &name) const;

  struct declared {
    bool is_constant;
    unsigned begin, end; ///< where it holds, in bytes of the file
  };

 private:
  const clang::SourceManager &m_sources;
  std::multimap<std::string, declared> m_all; ///< those of a name in the order of the file
};

} // namespace weft_oss

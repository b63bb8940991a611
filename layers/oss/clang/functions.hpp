// SPDX-License-Identifier: Apache-2.0
// Functions each of whose calls is a task.
#pragma once

#include "clauses.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weft_oss {

struct parameter {
  std::string name;
  tokens declared; ///< without its default argument, with a name
  tokens by_default; ///< the default argument, with its `=`
};

/// A declaration or definition of a function, taken apart.
struct function_head {
  tokens templates; ///< template <...>, once or more, as they are written
  std::vector<std::string> template_arguments; ///< that name the parameters of the innermost
  bool is_static = false;
  bool c_linkage = false; ///< extern "C"
  bool in_class = false;
  clang::Token name;
  std::vector<parameter> parameters;
  tokens qualifiers; ///< const, &
  tokens constraint; ///< requires ...
  tokens before_body; ///< all of the declaration, without what only a declaration may have
  tokens body; ///< without tokens: it is a declaration
};

/// Takes the function behind a pragma apart. Reports what is wrong, and returns nothing then.
std::optional<function_head> parse_function(clang::Preprocessor &pp, const pragma &parsed,
                                            const tokens &all, clang::SourceLocation pragma);

/// Returns whether a place in a file of C is in a function.
bool is_in_function(clang::Preprocessor &pp, clang::SourceLocation where);

} // namespace weft_oss

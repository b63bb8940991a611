// SPDX-License-Identifier: Apache-2.0
// The global and static variables of a file that has no parser.
#pragma once

#include <clang/Lex/Preprocessor.h>

#include <set>
#include <string>

namespace weft_oss {

/// Returns the names of the variables that a preprocessed file declares in namespaces, or as static, extern or thread_local, and that may change.
/// By the tokens of the file as it is, headers of the system left out: what a macro declares is not found.
std::set<std::string> global_variables(const clang::Preprocessor &pp);

} // namespace weft_oss

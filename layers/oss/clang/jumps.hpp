// SPDX-License-Identifier: Apache-2.0
// Jumps that leave the statement behind a pragma.
#pragma once

#include "tokens.hpp"

#include <string>

namespace weft_oss {

/// Reports each `return`, `break`, `continue` and `goto` that leaves the statement. Returns whether
/// there was none. `pragma` is the name for the message: '#pragma oss task'. In the body of a loop
/// `continue` leads to the next iteration, and does not leave it.
bool check_jumps(clang::Preprocessor &pp, const tokens &statement, const std::string &pragma,
                 bool body_of_loop = false);

} // namespace weft_oss

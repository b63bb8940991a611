// SPDX-License-Identifier: Apache-2.0
// The heads of the loops behind taskloop, task for, taskloop for and taskiter.
#pragma once

#include "clauses.hpp"

#include <optional>
#include <vector>

namespace weft_oss {

/// for (type name = first; name < limit; name += step)
struct loop_head {
  tokens prefix; ///< attributes and pragmas of the compiler in front of the loop
  tokens type; ///< without tokens: the variable is declared before the loop
  clang::Token name;
  tokens first;
  const char *relation = nullptr; ///< as weft::oss::relation has it
  tokens limit;
  tokens step; ///< without tokens: 1
  bool down = false; ///< the step is subtracted
};

/// The loops of a pragma.
struct loop_nest {
  std::vector<loop_head> heads; ///< the outermost first; none: it is a while loop
  tokens condition; ///< of a while loop
  tokens body;
};

/// Takes the loops of a pragma apart. Reports what is wrong, and returns nothing then.
std::optional<loop_nest> parse_loops(clang::Preprocessor &pp, const pragma &parsed,
                                     const tokens &statement);

} // namespace weft_oss

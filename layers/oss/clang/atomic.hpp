// SPDX-License-Identifier: Apache-2.0
// The statements behind `#pragma oss atomic`.
#pragma once

#include "clauses.hpp"

#include <optional>
#include <string>

namespace weft_oss {

/// What a statement does with one object.
struct atomic_statement {
  enum class form : std::uint8_t { read, write, update, compare } what;
  tokens object;
  tokens operand; ///< without tokens: 1
  std::string sign; ///< of the operation; none: the operand is the new value
  bool operand_first = false;
  tokens captured; ///< what gets the value, if something does
  /// Which value that is: `unchanged` is the old one, and none after a change.
  enum class value : std::uint8_t { old, now, unchanged } kept = value::now;
  tokens changed; ///< of a comparison: the new value; without tokens: the operand
  tokens answer; ///< of a comparison: what gets its result, if something does
};

/// Takes the statement apart. Reports what is wrong, and returns nothing then.
std::optional<atomic_statement> parse_atomic(clang::Preprocessor &pp, const pragma &parsed,
                                             const tokens &statement);

} // namespace weft_oss

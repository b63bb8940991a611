// SPDX-License-Identifier: Apache-2.0
// The values that a knob of the program may have, and how text becomes one. A value is a word of 64
// bits: a whole number, the bits of a double, or the index of a word in a list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct knob_domain {
  enum class kind { range, reals, numbers, words };

  kind what = kind::range;
  std::int64_t least = 0, most = 0; ///< of a range
  double real_least = 0, real_most = 0; ///< of reals
  std::vector<std::int64_t> numbers; ///< ascending
  std::vector<std::string> words;
  bool in_powers = false; ///< a search tries powers of two

  [[nodiscard]] bool includes(std::int64_t value) const noexcept;
  /// Returns the value that the text means, if the knob may have it.
  [[nodiscard]] std::optional<std::int64_t> parse(std::string_view text) const;
  /// Returns the text of a value, which parse() reads back.
  [[nodiscard]] std::string text(std::int64_t value) const;
  /// Says what is allowed, such as "an integer from 1 to 8".
  [[nodiscard]] std::string allowed() const;
  /// Returns "int", "real" or "choice".
  [[nodiscard]] const char *type() const noexcept;
};

} // namespace rt
} // namespace weft::inline v0

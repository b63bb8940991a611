// SPDX-License-Identifier: Apache-2.0
// Names of counters, after HPX: /object{instance}/counter@parameters.
//
//   /threads/count/cumulative              of the whole program, as {total}
//   /threads{worker#3}/count/cumulative    of one worker; also spelled {locality#0/worker-thread#3}
//   /threads{worker#*}/count/*             of each, of all that match
//   /statistics{/threads/idle-rate}/max@10 over the last ten intervals
//   /arithmetics/divide@/threads/time/idle,/threads/time/overall
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct counter_name {
  enum class of { total, worker, every_worker };
  std::string base; // "/object/counter": no instance
  of instance = of::total;
  unsigned worker = 0;
  std::string inner; // the counter in braces
  std::string parameters; // behind '@'

  [[nodiscard]] bool is_pattern() const noexcept {
    return base.find_first_of("*?") != std::string::npos || instance == of::every_worker;
  }
  [[nodiscard]] bool is_statistics() const noexcept { return base.starts_with("/statistics/"); }
  [[nodiscard]] bool is_arithmetics() const noexcept { return base.starts_with("/arithmetics/"); }
};

/// Parses a name. Throws weft::error (invalid_argument) that says what is wrong with it.
[[nodiscard]] counter_name parse_counter_name(std::string_view text);
/// Returns the name of one worker's counter, such as "/threads{worker#3}/count/cumulative".
[[nodiscard]] std::string name_of_worker(std::string_view base, unsigned worker);
/// Says whether `text` matches: '*' stands for anything, '?' for one character.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text) noexcept;
/// Says whether a program may give this name to a counter of its own.
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;
/// Splits a list at commas outside of braces. A formula keeps the commas of its parameters: a piece
/// that begins with neither '/' nor '*' belongs to the piece before it.
[[nodiscard]] std::vector<std::string> split_names(std::string_view list);

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Formulas over counters: arithmetics over the values of one moment, statistics over those of the
// last intervals.
#pragma once

#include "observe/views.hpp"

#include <deque>
#include <optional>

namespace weft::inline v0 {
namespace rt {

/// Evaluates a list of names, formulas among them, reading by reading.
class evaluator {
 public:
  /// Parses the names. Throws weft::error if a name is wrong. The first evaluation finds unknown
  /// counters.
  explicit evaluator(std::string_view names);

  struct result {
    std::string name, unit;
    double number; // NaN: no value
    bool absent = false;
    std::vector<std::pair<double, std::uint64_t>> buckets{}; // of a histogram
  };
  /// Evaluates all names. `numbers` holds the values to show, `interval` those since the last call, for
  /// statistics.
  /// A formula over an absent counter is absent itself.
  [[nodiscard]] std::vector<result> evaluate(const reading &numbers, const reading &interval);
  /// Throws weft::error, which says why, if a formula names a counter that is absent.
  void require_all(const reading &numbers) const;

 private:
  struct wanted {
    std::string text;
    counter_name name;
    counter_name inner; // of statistics
    std::vector<counter_name> operands;
    std::size_t window = 0; // 0: all
    std::deque<double> past;
  };
  static void parse_formula(wanted &asked);
  // nothing: a counter is absent
  static std::optional<double> statistics(wanted &asked, calculator &interval);
  static std::optional<double> arithmetics(const wanted &asked, calculator &numbers);

  std::vector<wanted> m_wanted;
};

} // namespace rt
} // namespace weft::inline v0

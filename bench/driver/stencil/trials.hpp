// SPDX-License-Identifier: Apache-2.0
// Runs weft-stencil-1d, and keeps what it prints: a size that the record has is not run again.
#pragma once

#include "record.hpp"

#include <string>
#include <vector>

namespace bench::stencil {

class trials {
 public:
  /// Reads the record; `fresh` removes it.
  trials(std::string record, bool fresh);

  /// Returns `runs` runs of a subject: those of the record, and where it has fewer, new ones.
  ///
  /// Errors. runtime_error when a result was wrong or the program failed.
  [[nodiscard]] std::vector<counts> of(const subject &what, int runs);
  [[nodiscard]] const std::vector<sample> &all() const { return m_all; }
  [[nodiscard]] int measured() const { return m_measured; }
  [[nodiscard]] int known() const { return m_known; }

 private:
  [[nodiscard]] const std::string &serial_sum(long points, int steps);

  std::string m_record;
  std::vector<sample> m_all;
  long m_sum_points = 0;
  int m_sum_steps = 0;
  std::string m_sum; // of the serial program
  int m_measured = 0, m_known = 0;
};

/// Returns the default name of a record.
[[nodiscard]] std::string record_path(const std::string &given, const std::string &name);

} // namespace bench::stencil

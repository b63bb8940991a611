// SPDX-License-Identifier: Apache-2.0
// Keeps measured values in a file, line by line: an interrupted evaluation continues where it
// stopped.
#pragma once

#include "trials.hpp"

#include <vector>

namespace bench::managers {

struct sample {
  std::string study, app, grain, mode, parameter;
  int workers = 0, run = 0;
  long tasks = 0;
  double seconds = 0;                                 // the least of the repetitions
  // Of an observed one: a body; the program's creation of tasks; a body that creates tasks.
  double body_ns = 0, creator_ns = 0, nested_ns = 0;
  // To create a task; from the end of a body to the worker's next one.
  double new_ns = 0, end_ns = 0;
};

class record {
 public:
  /// Reads the folder's files, and creates the folder if needed. Throws std::runtime_error naming
  /// file and line that it cannot read.
  explicit record(const std::string &folder);
  void add(const sample &s);
  [[nodiscard]] bool has(const trial &t) const;
  [[nodiscard]] const std::vector<sample> &samples() const { return m_samples; }
  [[nodiscard]] const std::string &folder() const { return m_folder; }

 private:
  std::string m_folder;
  std::vector<sample> m_samples;
};

} // namespace bench::managers

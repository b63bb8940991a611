// SPDX-License-Identifier: Apache-2.0
// What has been measured, line by line in a file: an evaluation that is cut short goes on where it stopped.
#pragma once

#include "trials.hpp"

#include <vector>

namespace bench::managers {

struct sample {
  std::string study, app, grain, mode, parameter;
  int workers = 0, run = 0;
  long tasks = 0;
  double seconds = 0;                                 // the least of the repetitions
  double body_ns = 0, creator_ns = 0, nested_ns = 0; // of an observed one: a body; the program's creating; a creating body
  double new_ns = 0, end_ns = 0;                     // to create a task; from the end of a body to the next one of the worker
};

class record {
 public:
  /// Reads what is in the folder, and creates it. Throws std::runtime_error naming file and line that it cannot read.
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

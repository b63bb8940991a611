// SPDX-License-Identifier: Apache-2.0
// Keeps measured values in files, line by line: an interrupted sweep continues where it stopped.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench::apps {

/// Is the sample of one process: the median of its repetitions.
struct sample {
  std::string app, series;
  int workers = 0;
  long size = 0, tile = 0;
  int run = 0; // samples of one run were taken one after the other
  long tasks = 0;
  double serial_s = 0, wall_s = 0;
};

/// Holds the instructions of all tasks of an application, without any runtime.
struct count {
  std::string app;
  long size = 0, tile = 0;
  double instructions = 0;
  long tasks = 0;
};

class record {
 public:
  /// Reads the folder's files, and creates the folder if needed. Throws std::runtime_error naming
  /// file and line that it cannot read.
  explicit record(const std::string &folder);
  /// Adds a sample and writes it to the file at once.
  void add(const sample &s);
  void add(const count &c);
  [[nodiscard]] const std::vector<sample> &samples() const { return m_samples; }
  [[nodiscard]] const sample *
  find(const sample &like) const; // app, series, workers, size, tile and run
  [[nodiscard]] std::optional<double> instructions_per_task(const std::string &app, long size,
                                                            long tile) const;
  [[nodiscard]] const std::string &folder() const { return m_folder; }

 private:
  std::string m_folder;
  std::vector<sample> m_samples;
  std::vector<count> m_counts;
};

} // namespace bench::apps

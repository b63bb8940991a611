// SPDX-License-Identifier: Apache-2.0
// Takes the samples and counts that a record does not have yet.
#pragma once

#include "apps.hpp"
#include "record.hpp"
#include "subjects.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::apps {

class sweep {
 public:
  sweep(const options &o, record &r);

  /// Counts the instructions of each application at each tile.
  void count(const std::vector<subject> &subjects);
  /// Measures run by run, in each run application by application, from coarse to fine tiles, and
  /// the series in turn.
  void measure(const std::vector<subject> &subjects);

  [[nodiscard]] bool over() const; // the budget is spent
  [[nodiscard]] const std::set<std::string> &absent() const { return m_absent; }
  [[nodiscard]] const std::vector<std::string> &failures() const { return m_failures; }

 private:
  [[nodiscard]] std::vector<long> tiles(const subject &s) const;
  [[nodiscard]] std::vector<series> present(const subject &s);
  void measure_tile(const subject &s, long tile, int run);
  void take(const subject &s, const series &which, sample &like);
  [[nodiscard]] bool is_hopeless(sample like) const;
  void fail(const std::string &what);

  const options &m_options;
  record &m_record;
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
  std::map<std::string, double> m_slow; // series and application -> its last repetition
  std::set<std::string> m_absent;
  std::set<std::string> m_failed; // application, series and tile: once is enough
  std::vector<std::string> m_failures;
};

} // namespace bench::apps

// SPDX-License-Identifier: Apache-2.0
// Samples of an application on Weft over its tiles, for the rows and curves of `weft-bench adapt`.
#pragma once

#include "../apps/apps.hpp"
#include "../apps/record.hpp"
#include "../apps/subjects.hpp"

#include <string>
#include <vector>

namespace bench::adapt {

/// Returns the application. Throws std::runtime_error, which names the target that builds it, when it is missing.
[[nodiscard]] apps::subject find_application(const std::string &name);

class application_samples {
 public:
  /// Forgets the samples that the folder holds; counts of instructions stay.
  application_samples(apps::subject of, const std::string &folder, int workers, int runs);
  /// @{ Takes the samples, or counts the instructions, that are not there yet. Throws
  /// std::runtime_error when a program fails.
  void measure(const std::vector<long> &tiles);
  void count(const std::vector<long> &tiles);
  /// @}
  /// @{ Returns medians of a tile that was measured, else throws std::runtime_error; times are of one run, in seconds.
  [[nodiscard]] double efficiency(long tile) const;
  [[nodiscard]] double wall_s(long tile) const;
  /// @}
  /// Returns the least serial time of all tiles; 0 without samples.
  [[nodiscard]] double serial_s() const;
  [[nodiscard]] const apps::record &all() const { return m_record; }
  [[nodiscard]] const apps::subject &of() const { return m_of; }

 private:
  template <class Value>
  [[nodiscard]] double median_of(long tile, Value value) const;
  apps::subject m_of;
  apps::options m_options;
  apps::record m_record;
};

} // namespace bench::adapt

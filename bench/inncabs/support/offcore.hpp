// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace inncabs {

/// Counts the requests that leave the cores, by the events that the thesis adds up: reads of data,
/// of code, and reads before writes. It counts the threads that begin after it, and the caller.
class offcore_counter {
 public:
  offcore_counter();
  offcore_counter(const offcore_counter &) = delete;
  offcore_counter &operator=(const offcore_counter &) = delete;
  ~offcore_counter();

  /// Returns why nothing is counted; empty where it is.
  [[nodiscard]] const std::string &absent() const noexcept { return m_absent; }
  /// Returns the requests so far.
  [[nodiscard]] double requests() const;

 private:
  static constexpr int k_events = 3;
  int m_files[k_events] = {-1, -1, -1};
  std::string m_absent;
};

} // namespace inncabs

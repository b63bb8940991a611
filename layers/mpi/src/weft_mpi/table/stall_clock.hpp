// SPDX-License-Identifier: Apache-2.0
// When something was added or found last, and when that is so long ago that a report is due.
#pragma once

#include <cstdint>

namespace weft_mpi {

/// Threads. The poller.
class stall_clock {
 public:
  explicit stall_clock(std::uint64_t limit_ns) : m_limit_ns(limit_ns) {} ///< 0: no report

  /// Takes note of a round. Returns whether a report is due, once until something is added or ends.
  /// A round that asks about nothing has nothing to report, however long ago the last call was.
  template <class Round>
  [[nodiscard]] bool note(const Round &round, std::uint64_t now_ns) noexcept {
    if (round.is_fresh || round.ended != 0) {
      m_active_ns = now_ns;
      m_has_reported = false;
    }
    const bool due = m_limit_ns != 0 && !round.is_empty && !m_has_reported &&
                     now_ns - m_active_ns >= m_limit_ns;
    m_has_reported |= due;
    return due;
  }

  /// Returns when something was added or ended last.
  [[nodiscard]] std::uint64_t active_ns() const noexcept { return m_active_ns; }

 private:
  std::uint64_t m_limit_ns;
  std::uint64_t m_active_ns = 0;
  bool m_has_reported = false;
};

} // namespace weft_mpi

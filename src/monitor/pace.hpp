// SPDX-License-Identifier: Apache-2.0
// How long the watcher naps between two looks. What looks may cost while nobody is stuck is a share of a CPU, saved up to an allowance. What it costs to
// see to those that are stuck is not counted: a burst of blocked tasks must not make the next one wait. Plain code of the watcher's thread.
#pragma once

#include "monitor/stall_detector.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::inline v0 {
namespace rt {

class pace {
 public:
  // A look with its sleep and wake-up costs 5 us of CPU time: at 10 ms that is 0.05 %. 0.5 ms: the longest that a thread may
  // sleep unnoticed once there is a doubt; starting a spare costs a tenth of it.
  static constexpr std::uint64_t k_shortest_ns = 500'000, k_longest_ns = 10'000'000;
  static constexpr std::uint64_t k_patience_ns = 100'000'000; // where looking turns out to be expensive
  static constexpr std::uint64_t k_fraction = 2000; // 1/2000 of a CPU
  static constexpr std::uint64_t k_allowance_ns = 1'000'000;

  /// After a look at `now`, by when the thread had used `spent` of CPU time. Short while there is a doubt, then longer and longer.
  std::uint64_t next(const stall_detector::assessment &o, std::uint64_t now, std::uint64_t spent) {
    m_nap_ns = o.look_soon || m_nap_ns == 0 ? k_shortest_ns : std::min(2 * m_nap_ns, o.slicing ? k_slice_ns / 2 : k_longest_ns);
    const std::uint64_t before = std::exchange(m_at, now);
    const auto earned = static_cast<std::int64_t>((before ? now - before : 0) / k_fraction);
    const auto cost = static_cast<std::int64_t>(spent - std::exchange(m_spent, spent));
    m_credit = std::min(m_credit + earned, static_cast<std::int64_t>(k_allowance_ns));
    if (o.blocked > 0 || o.suspects > 0 || o.slicing)
      return m_nap_ns;
    m_credit = std::max(m_credit - cost, -static_cast<std::int64_t>(k_patience_ns / k_fraction));
    return m_credit >= 0 ? m_nap_ns : std::max(m_nap_ns, static_cast<std::uint64_t>(-m_credit) * k_fraction);
  }
  /// The next nap is the shortest.
  void begin_anew() { m_nap_ns = 0; }

 private:
  std::uint64_t m_nap_ns = 0;
  std::uint64_t m_at = 0, m_spent = 0; // of the last look
  std::int64_t m_credit = k_allowance_ns;
};

} // namespace rt
} // namespace weft::inline v0

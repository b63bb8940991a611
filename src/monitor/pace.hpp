// SPDX-License-Identifier: Apache-2.0
// Decides how long the watcher naps between two looks. While no worker is stuck, looks may cost a
// fraction of a CPU, saved up to an allowance. The cost of looking after stuck workers does not
// count: a burst of blocked tasks must not make the next one wait. Only the watcher's thread runs
// this code.
#pragma once

#include "monitor/stall_detector.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::inline v0 {
namespace rt {

class pace {
 public:
  // 10 ms: a look with its sleep and wake-up costs 5 us of CPU time, so that is 0.05 %. 0.5 ms: the
  // longest time that a thread may sleep unnoticed once there is a doubt; starting a spare costs a
  // tenth of it.
  static constexpr std::uint64_t k_shortest_ns = 500'000, k_longest_ns = 10'000'000;
  static constexpr std::uint64_t k_patience_ns =
      100'000'000; // the longest nap where looks turn out to be expensive
  static constexpr std::uint64_t k_fraction = 2000; // 1/2000 of a CPU
  static constexpr std::uint64_t k_allowance_ns = 1'000'000;

  /// Returns the length of the nap after a look at `now`, when the thread has used `spent` of CPU
  /// time. Naps are short while there is a doubt, then longer and longer.
  std::uint64_t next(const stall_detector::assessment &result, std::uint64_t now,
                     std::uint64_t spent) {
    m_nap_ns = result.look_soon || m_nap_ns == 0
                   ? k_shortest_ns
                   : std::min(2 * m_nap_ns, result.slicing ? k_slice_ns / 2 : k_longest_ns);
    const std::uint64_t before = std::exchange(m_at, now);
    const auto earned = static_cast<std::int64_t>((before ? now - before : 0) / k_fraction);
    const auto cost = static_cast<std::int64_t>(spent - std::exchange(m_spent, spent));
    m_credit = std::min(m_credit + earned, static_cast<std::int64_t>(k_allowance_ns));
    if (result.blocked > 0 || result.suspects > 0 || result.slicing)
      return m_nap_ns;
    m_credit = std::max(m_credit - cost, -static_cast<std::int64_t>(k_patience_ns / k_fraction));
    return m_credit >= 0 ? m_nap_ns
                         : std::max(m_nap_ns, static_cast<std::uint64_t>(-m_credit) * k_fraction);
  }
  /// Makes the next nap the shortest.
  void begin_anew() { m_nap_ns = 0; }

 private:
  std::uint64_t m_nap_ns = 0;
  std::uint64_t m_at = 0, m_spent = 0; // of the last look
  std::int64_t m_credit = k_allowance_ns;
};

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// When a policy is called, and which of two policies that contradict each other wins. Pure: times
// come in.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Calls at intervals. A clock that jumps forward leads to one call, not to those that were missed;
/// one that jumps back, or stands still, delays the next call by one interval at most once it runs.
class interval_schedule {
 public:
  interval_schedule(std::uint64_t period_ns, std::uint64_t now) noexcept
      : m_period_ns(period_ns), m_next(after(now)) {}
  [[nodiscard]] bool is_due(std::uint64_t now) noexcept {
    if (after(now) < m_next) // the clock has gone back
      m_next = after(now);
    if (now < m_next)
      return false;
    m_next = after(now - m_next < m_period_ns ? m_next : now);
    return true;
  }
  [[nodiscard]] std::uint64_t next() const noexcept { return m_next; }

 private:
  static constexpr std::uint64_t k_never = INT64_MAX; // a sleep until then is valid, and does not end

  /// Returns the end of a period that begins at `at`.
  [[nodiscard]] std::uint64_t after(std::uint64_t at) const noexcept {
    return at < k_never && m_period_ns < k_never - at ? at + m_period_ns : k_never;
  }

  const std::uint64_t m_period_ns;
  std::uint64_t m_next;
};

/// Says when a number passes a threshold: once, until it has come back. No number is no crossing.
class threshold_edge {
 public:
  threshold_edge(double limit, bool above) noexcept : m_limit(limit), m_above(above) {}
  [[nodiscard]] bool passes(double value) noexcept {
    if (std::isnan(value))
      return false;
    const bool beyond = m_above ? value > m_limit : value < m_limit;
    const bool passed = beyond && !m_was_beyond;
    m_was_beyond = beyond;
    return passed;
  }

 private:
  const double m_limit;
  const bool m_above;
  bool m_was_beyond = false;
};

/// Notices policies that set one knob to different values in turn. The one that has set the knob
/// first keeps it; the other one's changes are refused from then on.
class contradictions {
 public:
  struct loser {
    std::string winner, winners_value; ///< what is kept
    bool is_first = false; ///< it has lost just now: to be reported
  };
  /// Notes that `policy` wants to give `knob` a value. Returns what has won against it, if it may not.
  std::optional<loser> note(const std::string &knob, const std::string &policy,
                            const std::string &value) {
    fight &of = m_fights[knob];
    if (of.first.empty())
      of.first = policy;
    const std::string last = std::exchange(of.last, policy);
    wish &own = of.wishes[policy];
    const bool insists = own.value == value && last != policy && !own.has_lost;
    own.value = value;
    const std::string &kept = of.wishes[of.first].value;
    if (own.has_lost)
      return kept == value ? std::nullopt : std::optional(loser{of.first, kept, false});
    if (!insists || kept == value || ++own.times < k_most)
      return std::nullopt;
    own.has_lost = true;
    return loser{of.first, kept, true};
  }
  /// Forgets a policy that has ended.
  void forget(const std::string &policy) {
    for (auto &[knob, of] : m_fights) {
      if (of.first == policy)
        of = {};
      of.wishes.erase(policy);
    }
  }

 private:
  static constexpr int k_most = 3; // times that it has insisted
  struct wish {
    std::string value;
    int times = 0;
    bool has_lost = false;
  };
  struct fight {
    std::string first, last;
    std::map<std::string, wish> wishes;
  };
  std::map<std::string, fight> m_fights;
};

} // namespace rt
} // namespace weft::inline v0

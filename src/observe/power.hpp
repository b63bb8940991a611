// SPDX-License-Identifier: Apache-2.0
// Energy as the kernel's powercap counts it (RAPL of Intel's and AMD's processors): files that
// count microjoules and begin anew at their range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct energy_domain {
  std::string file;
  std::uint64_t last = 0, range = 0; // uJ
};

struct energy_domains {
  std::vector<energy_domain> found;
  std::string why; // none was found, or none may be read
};

/// Finds the domains whose names begin with `prefix`, in the first two levels below `root`, which
/// is "/sys/class/powercap" except in tests.
[[nodiscard]] energy_domains find_energy(const std::string &root, std::string_view prefix);
/// Returns what all domains have used since they were found or read last.
[[nodiscard]] std::uint64_t spent_energy(std::vector<energy_domain> &domains);

/// Returns how long may pass between two readings, so that no domain uses more than half of its range
/// meanwhile, at 1 kW; 0 without domains: for ever.
[[nodiscard]] std::uint64_t longest_pause_ns(const std::vector<energy_domain> &domains) noexcept;

/// Returns the microjoules that the processors of `workers` workers take in `span_ns`, of which all
/// together are busy for `busy_ns`. `busy` and `idle` are in watts.
[[nodiscard]] constexpr double estimated_energy(double busy_ns, double span_ns, unsigned workers,
                                                double busy, double idle) noexcept {
  const double left_ns = span_ns * workers - busy_ns; // threads beside the workers are busy, too
  return (busy_ns * busy + (left_ns > 0 ? left_ns * idle : 0)) / 1000;
}

} // namespace rt
} // namespace weft::inline v0

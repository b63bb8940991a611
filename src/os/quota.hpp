// SPDX-License-Identifier: Apache-2.0
// What control groups allow this process: the smallest limit of its group and of every ancestor
// that is visible, in version 1, version 2 and hybrid hierarchies. A file that is missing or
// malformed sets no limit.
#pragma once

#include <cstdint>
#include <string>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::uint64_t k_no_memory_limit = UINT64_MAX;

struct cpu_quota {
  double cpus = 0;    ///< CPU time per wall time; 0 where there is no limit
  std::string origin; ///< the file that set it; "" where there is none
  [[nodiscard]] bool limited() const noexcept { return cpus > 0; }
};

struct memory_limit {
  std::uint64_t bytes = k_no_memory_limit;
  std::string origin;
  [[nodiscard]] bool limited() const noexcept { return bytes != k_no_memory_limit; }
};

/// Reads the quota. `root` is put before every path ("" is the real system; tests pass a tree of
/// their own).
cpu_quota read_cpu_quota(const std::string &root = "");
memory_limit read_memory_limit(const std::string &root = "");

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/quota.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct cpu_entry {
  int cpu = 0;     ///< the kernel's number
  int node = 0;    ///< NUMA node
  int package = 0; ///< socket
  int core = 0;    ///< unique within its package; SMT siblings share it
  bool little = false; ///< one of the slower cores of a machine that has two kinds
};

/// Holds one picture of the machine as this process may use it. It is taken once and never changes.
struct machine {
  std::vector<cpu_entry> cpus; ///< allowed by the affinity mask, ascending by number; never empty
  int online_cpus = 1; ///< what the machine has
  int nodes = 1; ///< NUMA nodes among `cpus`
  cpu_quota quota;
  memory_limit memory;
  std::size_t page_bytes = 4096;

  /// Returns how many threads can run at once: the cpus of the mask, at most the quota rounded up;
  /// at least 1.
  [[nodiscard]] int effective_cpus() const noexcept;

  /// Returns the kernel's numbers of `cpus` in the order in which workers are bound: neighbours
  /// first, SMT siblings side by side.
  [[nodiscard]] std::vector<int> compact_order() const;
  /// Returns them as far apart as possible: over the packages in turn, whole cores before SMT
  /// siblings.
  [[nodiscard]] std::vector<int> spread_order() const;
};

/// Takes a picture. `root` is put before /proc and /sys paths; `mask` are the allowed cpus.
machine read_machine(const std::string &root, const std::vector<int> &mask);

/// Returns the picture of this process, taken on first use with the caller's affinity mask.
const machine &this_machine();

} // namespace rt
} // namespace weft::inline v0

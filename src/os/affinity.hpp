// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Returns the cpus that the calling thread may run on, ascending; any number of them. Empty only
/// where the kernel refuses.
std::vector<int> current_affinity();

/// Restricts the calling thread to `cpus`. Returns zero or an errno value. After EINVAL (a cpu that
/// went away, or a cpuset without it) the caller goes on unbound.
[[nodiscard]] int bind_this_thread(const std::vector<int> &cpus);
[[nodiscard]] int bind_this_thread(int cpu);

/// Reads the kernel's notation ("0-3,8,10-11"). Returns nullopt if it is malformed. "" is the empty
/// list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Where cpus are, as Linux tells it, and which of them the process uses.
#pragma once

#include <vector>

namespace weft_omp {

/// Numbers that are the same for cpus of one socket, of one core. A cpu of which Linux tells nothing is by itself.
[[nodiscard]] int socket_of(int cpu) noexcept;
[[nodiscard]] int core_of(int cpu) noexcept;

/// The cpus that the process may run on, less those that KMP_HW_SUBSET leaves out, ascending.
const std::vector<int> &process_cpus();

} // namespace weft_omp

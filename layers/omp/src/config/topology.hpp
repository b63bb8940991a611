// SPDX-License-Identifier: Apache-2.0
// The sockets, cores, caches and NUMA domains of cpus, as Linux reports them, and the cpus that the
// process uses.
#pragma once

#include <vector>

namespace weft_omp {

/// Return a number that is the same for all cpus of one socket, or of one core.
/// A cpu for which Linux reports nothing is a socket and a core of its own.
[[nodiscard]] int socket_of(int cpu) noexcept;
[[nodiscard]] int core_of(int cpu) noexcept;
/// Return a number that is the same for all cpus that share their last cache, or of one NUMA domain.
/// Where Linux reports nothing, that is the socket.
[[nodiscard]] int last_cache_of(int cpu) noexcept;
[[nodiscard]] int numa_domain_of(int cpu);

/// Returns the cpus that the process may run on, less those that KMP_HW_SUBSET leaves out, in
/// ascending order.
const std::vector<int> &process_cpus();

} // namespace weft_omp

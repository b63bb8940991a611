// SPDX-License-Identifier: Apache-2.0
// Makes each of the policies; make_policy() chooses one.
// Bodies: central.cpp, delegated.cpp, local_fifo.cpp, seeded.cpp, stealing.cpp
#pragma once

#include "sched/policy.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns the NUMA node of the cpu that worker `id` is for, or 0 where the machine is not known.
inline int node_of(const machine &host, unsigned id) {
  return host.cpus.empty() ? 0 : host.cpus[id % host.cpus.size()].node;
}

std::unique_ptr<policy> make_stealing(unsigned slots);
std::unique_ptr<policy> make_central();
std::unique_ptr<policy> make_delegated(const settings &chosen, const machine &host,
                                       unsigned workers, unsigned slots);
std::unique_ptr<policy> make_local_fifo(const settings &chosen, const machine &host,
                                        unsigned slots);
std::unique_ptr<policy> make_seeded(std::uint64_t seed);

} // namespace rt
} // namespace weft::inline v0

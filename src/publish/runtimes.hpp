// SPDX-License-Identifier: Apache-2.0
// How the workers' time is shared between the runtimes of the process: OpenMP, TBB, GLT and others.
//
// Every stack names the runtime that it runs for (mem/stack_pool.hpp): so a switch of stacks, and a task, do
// nothing for this. A publisher looks now and then at the stack that each worker is on. What the
// worker has computed since the last look it takes for work of the runtime that it finds there.
//
// Roles       Worker: changes its pool_stack. The user of a stack sets the client of it.
//             Sampler, one at a time by the publishers' lock: reads both, and writes the counters.
// Invariant   I1  The sampler reads the descriptor of a stack that a worker was on, perhaps one that
//                 is free by now: descriptors are kept for ever, so it reads a client that was right
//                 a moment before.
// Orders      O1  pool_stack store release, load acquire: the descriptor is complete.
// Checked by  tests/unit/observe/runtimes_test.cpp, also under ThreadSanitizer
#pragma once

#include "observe/layout.hpp"

#include <weft/layer/thread.hpp>

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

struct worker;
class runtime;

/// Returns the counter of a runtime's time; null for Weft's own tasks, which are the rest.
[[nodiscard]] std::uint64_t *time_of_client(counter_block &block, layer::client of) noexcept;

/// Charges what the worker has computed since its last sample. Returns whether it computes for a
/// runtime other than Weft. The caller is the sampler.
bool sample_client(worker &w, std::uint64_t now) noexcept;

/// Charges all workers, and counts those that have stepped back. The caller is the sampler.
void sample_clients(runtime &rt, std::uint64_t now) noexcept;

} // namespace rt
} // namespace weft::inline v0

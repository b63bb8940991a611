// SPDX-License-Identifier: Apache-2.0
// Threads for the calls of MPI that have no non-blocking form, such as MPI_Win_fence. Each call in
// progress has a thread of its own, because one may wait for another. Threads are kept.
#pragma once

namespace weft_mpi {

/// Runs `run(job)` on a thread. Returns false if there is none, and none can be made.
[[nodiscard]] bool run_on_helper(void (*run)(void *) noexcept, void *job) noexcept;
/// Ends the threads, which have nothing to do.
void end_helper_threads() noexcept;

} // namespace weft_mpi

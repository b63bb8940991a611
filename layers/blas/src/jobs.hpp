// SPDX-License-Identifier: Apache-2.0
// Runs the jobs of one call of OpenBLAS.
#pragma once

#include <cstddef>

namespace weft_blas {

/// Runs job `index`. The first argument chooses a buffer of the copy of OpenBLAS.
using job_function = void (*)(int buffer, void *job, int argument);

/// Begins to hand out `buffers` buffers at most: the least number that an attached copy has.
void limit_buffers(int buffers) noexcept;

/// Runs `count` jobs at once, and returns when all have ended. It is what OpenBLAS calls: `jobs` has
/// an element of `size` bytes for each.
///
/// The jobs of one call wait for each other by spinning, so each has a thread. Two jobs never use a
/// buffer at once, also when several threads call.
///
/// Threads. Any.
void run_jobs(int sync, job_function run, int count, std::size_t size, void *jobs,
              int argument) noexcept;

} // namespace weft_blas

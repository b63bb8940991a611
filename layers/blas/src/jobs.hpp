// SPDX-License-Identifier: Apache-2.0
// Runs the jobs of one call of OpenBLAS, Blosc or FFTW.
#pragma once

#include <cstddef>

namespace weft_blas {

/// Runs job `index`. The first argument chooses a buffer of the copy of OpenBLAS.
using job_function = void (*)(int buffer, void *job, int argument);

/// Says that the code from `begin` to `end` is a copy of OpenBLAS with so many buffers. Calls of
/// run_jobs() whose function is in it share these.
///
/// Threads. One at a time.
void add_buffers(const void *begin, const void *end, int buffers);

/// Runs `count` jobs at once, and returns when all have ended. It is what OpenBLAS calls: `jobs` has
/// an element of `size` bytes for each.
///
/// The jobs of one call wait for each other by spinning, so each has a thread. Two jobs of one copy
/// never use a buffer at once, also when several threads call. A call with more jobs than the copy
/// has said that it has buffers uses the first `count`, while no other one uses any.
///
/// Threads. Any.
void run_jobs(int sync, job_function run, int count, std::size_t size, void *jobs,
              int argument) noexcept;

/// Runs `count` jobs, and returns when all have ended. It is what C-Blosc2 calls: `jobs` has an
/// element of `size` bytes for each. Job 0 waits for no other, others may wait for it.
///
/// Threads. Any.
void run_blosc_jobs(void *data, void (*run)(void *job), int count, std::size_t size,
                    void *jobs) noexcept;

/// Runs `count` jobs, which wait for none, and returns when all have ended. It is what FFTW calls.
///
/// Threads. Any.
void run_fftw_jobs(void *(*run)(char *job), char *jobs, std::size_t size, int count,
                   void *data) noexcept;

} // namespace weft_blas

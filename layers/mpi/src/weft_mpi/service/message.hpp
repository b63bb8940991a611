// SPDX-License-Identifier: Apache-2.0
// Messages to users: whole lines on standard error.
#pragma once

namespace weft_mpi {

/// Prints "weft: warning: ..." with the rank, once MPI knows it.
[[gnu::cold, gnu::format(printf, 1, 2)]] void warn(const char *format, ...) noexcept;
/// Prints "weft: fatal: ..." and ends the process, and the job once MPI runs.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void fatal(const char *format, ...) noexcept;

/// Sees to it that the process ends within a second, by `code`. Called before MPI is asked to abort: it
/// may call exit(), which waits for tasks, and they for MPI.
void end_soon(int code) noexcept;

} // namespace weft_mpi

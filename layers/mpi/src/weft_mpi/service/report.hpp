// SPDX-License-Identifier: Apache-2.0
// What tasks wait for when the job ends under them.
#pragma once

#include <cstddef>

namespace weft_mpi {

/// Prints what is in flight when SIGTERM, which launchers send to the ranks of a job that has failed,
/// ends the process. Does nothing if the program handles the signal. MPI is initialised.
///
/// Errors. std::bad_alloc.
void report_at_termination();
/// Gives the signal back. Called before MPI ends.
void end_report() noexcept;

/// Writes the names of what is in flight to `to`, with commas between, and ends it with a zero. Safe in
/// a signal handler.
void name_what_is_in_flight(char *to, std::size_t bytes) noexcept;

} // namespace weft_mpi

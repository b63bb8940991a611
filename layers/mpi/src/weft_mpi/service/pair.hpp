// SPDX-License-Identifier: Apache-2.0
// The library and the program must use the same MPI.
#pragma once

namespace weft_mpi {

/// Ends the process with a message if the other MPI is loaded. Called when the library is loaded, and
/// when MPI is initialised.
void refuse_other_mpi() noexcept;
/// Warns of a launcher of the other MPI, whose ranks would each be alone. MPI is initialised.
void warn_of_other_launcher() noexcept;

} // namespace weft_mpi

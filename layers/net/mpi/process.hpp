// SPDX-License-Identifier: Apache-2.0
// MPI in this process: its begin, its end, and the communicators of engines that have ended.
#pragma once

#include "mpi/wire.hpp"

#include <vector>

namespace weft_net_mpi {

/// Is a communicator whose engine has ended here, while other ranks may still send.
struct parting {
  MPI_Comm comm;
  inbox packets;
  std::vector<bool> has_left; // by rank: it has said goodbye, or is lost
};

/// Initialises MPI, unless the program has. Counts a port that is open.
///
/// Errors. not_supported: MPI has been finalized, gives fewer threads than MPI_THREAD_SERIALIZED, has no
/// launcher, or is in use by another engine without MPI_THREAD_MULTIPLE.
void begin_mpi();
/// Ends a port that begin_mpi() has counted, in order: MPI may be finalized as the process ends. Without
/// this call it is not, because that would wait for ranks that do not come.
void end_port() noexcept;
/// Learns that the rank ends with an error: nothing waits for other ranks from now on.
void give_up() noexcept;
/// Keeps a communicator until all its ranks have left: MPI_Finalize, and the next engine, look after it.
void keep(parting &&left) noexcept;
/// Frees the communicators that all ranks have left.
void free_left() noexcept;

} // namespace weft_net_mpi

// SPDX-License-Identifier: Apache-2.0
// The line to the process manager that has started the ranks: PMI, version 1, lines of key=value.
// A library of MPI uses the same line from its MPI_Init on, and finalizes it itself.
#pragma once

#include <string>

namespace weft_net {

/// Publishes `value` at rank 0, and returns it at all ranks. Throws std::runtime_error.
[[nodiscard]] std::string share_by_pmi(int descriptor, int rank, const std::string &value);

/// Sees to it that exit() calls finalize_pmi(): without that the process manager may lose what the
/// process has printed. The line has this process until then.
///
/// Threads. One, once in a process.
void finalize_pmi_at_exit(int descriptor);
/// Finalizes the line that finalize_pmi_at_exit() has been called with, the first time. It does nothing
/// in these cases:
///
/// - MPI has been initialized: the line is MPI's, also after MPI_Finalize.
/// - The process is a child of fork().
/// - The descriptor is another file by now.
///
/// Threads. Any.
/// Blocks. Until the process manager has answered, two seconds at most.
void finalize_pmi() noexcept;

} // namespace weft_net

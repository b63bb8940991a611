// SPDX-License-Identifier: Apache-2.0
// Which MPI the engine mpi is to use: a process has one MPI, that of its program or of its launcher.
#pragma once

#include <functional>
#include <string>

namespace weft_net {

/// Is what this process shows of an MPI.
struct mpi_signs {
  std::string openmpi_file, mpich_file; ///< loaded libraries; "" without
  bool is_of_mpirun = false,
       is_of_mpiexec = false; ///< what has started the process: Open MPI, MPICH
  bool has_openmpi_engine = false, has_mpich_engine = false; ///< engines beside this library
};

/// Returns `mpi-openmpi` or `mpi-mpich` for `mpi`, `mpi-openmpi` or `mpi-mpich`. Throws weft::error,
/// not_supported, for what does not fit together.
[[nodiscard]] std::string mpi_engine_name(const std::string &engine, const mpi_signs &signs);

/// Returns the signs of this process. `folder` has the libraries of engines, with a slash.
[[nodiscard]] mpi_signs signs_of_process(const std::string &folder);

} // namespace weft_net

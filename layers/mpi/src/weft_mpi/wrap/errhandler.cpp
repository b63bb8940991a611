// SPDX-License-Identifier: Apache-2.0
// Handlers as the program sees them, with MPICH (service/errors.hpp says why).
#include "weft_mpi/service/errors.hpp"

#if defined(MPICH)
extern "C" {

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
  return PMPI_Comm_create_errhandler(weft_mpi::function_for_mpi(function), handler);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return PMPI_Comm_set_errhandler(comm, weft_mpi::handler_for_mpi(handler));
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler) {
  const int error = PMPI_Comm_get_errhandler(comm, handler);
  if (error == MPI_SUCCESS)
    *handler = weft_mpi::handler_for_user(*handler);
  return error;
}

} // extern "C"
#endif

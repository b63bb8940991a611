// SPDX-License-Identifier: Apache-2.0
// Error handlers. A blocking call of a task becomes a request, and a failure of the request must
// reach the handler that the blocking call would have called.
//
// Open MPI calls the handler of the request's communicator when the request is waited for: right as it is.
// MPICH 4.0 calls the handler of MPI_COMM_WORLD then, also when it is only asked for the status of the
// request. So with MPICH
// - the library calls MPI with handlers silenced, and then the handler of the communicator by name;
// - handlers are functions of the library that call the user's function unless they are silenced.
//   MPI_ERRORS_ARE_FATAL is one, too: on each communicator that the program gives it, and at first on
//   MPI_COMM_WORLD, from which others inherit it.
// The program sees its own functions and MPI_ERRORS_ARE_FATAL (wrap/errhandler.cpp).
#pragma once

#include "weft_mpi/service/mpi.hpp"

namespace weft_mpi {

#if defined(MPICH)

/// Silences error handlers on this kernel thread for its lifetime, which passes no suspension.
class silence {
 public:
  silence() noexcept { ++depth; }
  ~silence() { --depth; }
  silence(const silence &) = delete;
  silence &operator=(const silence &) = delete;

  static thread_local int depth;
};

/// Calls the handler of `comm` for an error that came while handlers were silent. Returns the error.
inline int tell(MPI_Comm comm, int error) noexcept {
  if (error != MPI_SUCCESS)
    PMPI_Comm_call_errhandler(comm, error);
  return error;
}

/// Replaces MPI_ERRORS_ARE_FATAL of MPI_COMM_WORLD. Called when MPI has been initialised.
void take_over_handlers() noexcept;
/// Returns the handler that MPI is to know for the user's, and back.
MPI_Errhandler handler_for_mpi(MPI_Errhandler of_user) noexcept;
MPI_Errhandler handler_for_user(MPI_Errhandler of_mpi) noexcept;
/// Returns the function that MPI is to call for a function of the user.
MPI_Comm_errhandler_function *function_for_mpi(MPI_Comm_errhandler_function *of_user) noexcept;

#else

struct silence {
  silence() noexcept {}
};
inline int tell(MPI_Comm, int error) noexcept { return error; }
inline void take_over_handlers() noexcept {}

#endif

/// Ends a request that is complete, as the blocking call on `comm` that it stands for.
inline int finish(MPI_Comm comm, MPI_Request &request, MPI_Status *status) noexcept {
  int error;
  {
    const silence quiet;
    error = PMPI_Wait(&request, status);
  }
  return tell(comm, error);
}

/// Returns whether a request is complete, without ending it. An error is left to the call that ends
/// the request.
inline bool is_complete(MPI_Request request) noexcept {
  if (request == MPI_REQUEST_NULL)
    return true;
  const silence quiet;
  int flag = 0;
  return PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

} // namespace weft_mpi

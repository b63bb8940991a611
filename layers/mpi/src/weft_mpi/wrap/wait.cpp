// SPDX-License-Identifier: Apache-2.0
// Waits and tests. A wait suspends the task until MPI's own wait would not block, then calls it: so
// statuses, handles, inactive requests and errors are MPI's.
#include "weft_mpi/wrap/wrap.hpp"

#include <new>
#include <vector>

using namespace weft_mpi;

namespace {

/// Suspends the task until a request that is active has completed. Requests that are complete now
/// are inactive: MPI has just been asked for a completed one, and found none.
void wait_for_any(const caller &here, int count, const MPI_Request *requests) {
  std::vector<MPI_Request> active;
  active.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    if (!is_complete(requests[i]))
      active.push_back(requests[i]);
  here.wait_until([&active] {
    for (MPI_Request r : active)
      if (is_complete(r))
        return true;
    return active.empty();
  });
}

} // namespace

extern "C" {

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  WEFT_ENTER("MPI_Wait")
  if (here.is_task() && request)
    here.wait_until([request] { return is_complete(*request); });
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Waitall")
  if (here.is_task() && requests) {
    int done = 0; // one look at a time: all must complete
    here.wait_until([&] {
      while (done < count && is_complete(requests[done]))
        ++done;
      return done >= count;
    });
    // Open MPI 4.1 waits for ever in MPI_Waitall for a request that has failed before.
    int flag = 0;
    const int error = PMPI_Testall(count, requests, &flag, statuses);
    if (error != MPI_SUCCESS || flag)
      return error;
  }
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  WEFT_ENTER("MPI_Waitany")
  if (!here.is_task() || !requests || count <= 0)
    return PMPI_Waitany(count, requests, index, status);
  for (;;) {
    int flag = 0;
    const int error = PMPI_Testany(count, requests, index, &flag, status);
    if (error != MPI_SUCCESS || flag)
      return error;
    try {
      wait_for_any(here, count, requests);
    } catch (const std::bad_alloc &) {
      return PMPI_Waitany(count, requests, index, status);
    }
  }
}

int MPI_Waitsome(int count, MPI_Request requests[], int *found, int indices[],
                 MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Waitsome")
  if (!here.is_task() || !requests || count <= 0)
    return PMPI_Waitsome(count, requests, found, indices, statuses);
  for (;;) {
    const int error = PMPI_Testsome(count, requests, found, indices, statuses);
    if (error != MPI_SUCCESS || *found != 0)
      return error;
    try {
      wait_for_any(here, count, requests);
    } catch (const std::bad_alloc &) {
      return PMPI_Waitsome(count, requests, found, indices, statuses);
    }
  }
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  WEFT_ENTER("MPI_Test")
  const int error = PMPI_Test(request, flag, status);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Testall")
  const int error = PMPI_Testall(count, requests, flag, statuses);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  WEFT_ENTER("MPI_Testany")
  const int error = PMPI_Testany(count, requests, index, flag, status);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Testsome(int count, MPI_Request requests[], int *found, int indices[],
                 MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Testsome")
  const int error = PMPI_Testsome(count, requests, found, indices, statuses);
  if (error == MPI_SUCCESS && *found == 0)
    here.yield();
  return error;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  WEFT_ENTER("MPI_Request_get_status")
  const int error = PMPI_Request_get_status(request, flag, status);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

} // extern "C"

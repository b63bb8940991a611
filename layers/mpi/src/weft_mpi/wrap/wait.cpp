// SPDX-License-Identifier: Apache-2.0
// Waits and tests. A wait suspends the task until MPI's own wait would not block, then calls it: so
// statuses, handles, inactive requests and errors are MPI's.
#include "weft_mpi/wrap/wrap.hpp"

#include <new>
#include <vector>

using namespace weft_mpi;

namespace {

/// Returns the requests that are incomplete now. Of the others MPI, if it is asked afterwards, finds one
/// that has completed; if it finds none, they are inactive.
std::vector<MPI_Request> incomplete_of(int count, const MPI_Request *requests) {
  std::vector<MPI_Request> found;
  found.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    if (!is_complete(requests[i]))
      found.push_back(requests[i]);
  return found;
}

/// Suspends the task until one of these requests has completed.
void wait_for_any(const caller &here, const std::vector<MPI_Request> &active) {
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
  if (here.is_task() && request && !is_complete(*request))
    here.wait_until([request] { return is_complete(*request); }, {},
                    [request] { return *request; });
  if (request)
    forget_begun(*request); // before MPI gives the handle to another request
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Waitall")
  if (here.is_task() && requests) {
    int done = 0; // one look at a time: all must complete
    const auto all_are_complete = [&] {
      while (done < count && is_complete(requests[done]))
        ++done;
      return done >= count;
    };
    if (!all_are_complete())
      here.wait_until(all_are_complete, {}, [&] { return requests[done]; });
    const kept_handles before(count, requests);
    // Open MPI 4.1 waits for ever in MPI_Waitall for a request that has failed before.
    int flag = 0;
    const int error = PMPI_Testall(count, requests, &flag, statuses);
    before.forget_ended();
    if (error != MPI_SUCCESS || flag)
      return error;
  }
  const kept_handles before(count, requests);
  const int error = PMPI_Waitall(count, requests, statuses);
  before.forget_ended();
  return error;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  WEFT_ENTER("MPI_Waitany")
  const kept_handles before(count, requests);
  if (!here.is_task() || !requests || count <= 0) {
    const int error = PMPI_Waitany(count, requests, index, status);
    before.forget_ended();
    return error;
  }
  std::vector<MPI_Request> active;
  for (bool first = true;; first = false) {
    int flag = 0;
    const int error = PMPI_Testany(count, requests, index, &flag, status);
    before.forget_ended();
    if (error != MPI_SUCCESS || flag)
      return error;
    try {
      if (!first)
        wait_for_any(here, active);
      active = incomplete_of(count, requests); // then MPI is asked again
    } catch (const std::bad_alloc &) {
      return PMPI_Waitany(count, requests, index, status);
    }
  }
}

int MPI_Waitsome(int count, MPI_Request requests[], int *found, int indices[],
                 MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Waitsome")
  const kept_handles before(count, requests);
  if (!here.is_task() || !requests || count <= 0) {
    const int error = PMPI_Waitsome(count, requests, found, indices, statuses);
    before.forget_ended();
    return error;
  }
  std::vector<MPI_Request> active;
  for (bool first = true;; first = false) {
    const int error = PMPI_Testsome(count, requests, found, indices, statuses);
    before.forget_ended();
    if (error != MPI_SUCCESS || *found != 0)
      return error;
    try {
      if (!first)
        wait_for_any(here, active);
      active = incomplete_of(count, requests); // then MPI is asked again
    } catch (const std::bad_alloc &) {
      return PMPI_Waitsome(count, requests, found, indices, statuses);
    }
  }
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  WEFT_ENTER("MPI_Test")
  const kept_handles before(1, request);
  const int error = PMPI_Test(request, flag, status);
  before.forget_ended();
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Testall")
  const kept_handles before(count, requests);
  const int error = PMPI_Testall(count, requests, flag, statuses);
  before.forget_ended();
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  WEFT_ENTER("MPI_Testany")
  const kept_handles before(count, requests);
  const int error = PMPI_Testany(count, requests, index, flag, status);
  before.forget_ended();
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Testsome(int count, MPI_Request requests[], int *found, int indices[],
                 MPI_Status statuses[]) {
  WEFT_ENTER("MPI_Testsome")
  const kept_handles before(count, requests);
  const int error = PMPI_Testsome(count, requests, found, indices, statuses);
  before.forget_ended();
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

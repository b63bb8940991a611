// SPDX-License-Identifier: Apache-2.0
// Sends, receives and collective calls (by_count.inc), probes, and the requests that are persistent.
#include "weft_mpi/wrap/persistent.hpp"
#include "weft_mpi/wrap/wrap.hpp"

#include <cstddef>
#include <memory>
#include <new>

using namespace weft_mpi;

namespace {

int note_persistent(int error, const MPI_Request *request) {
  if (error == MPI_SUCCESS) {
    add_persistent(*request);
    forget_begun(*request); // of an earlier request
  }
  return error;
}

int note(int error, const MPI_Request *request, const char *name, const awaited &what = {}) {
  if (error == MPI_SUCCESS)
    note_begun(*request, name, what);
  return error;
}

/// Ends a receive that was begun for a call that cannot go on.
void cancel(MPI_Request &receive) noexcept {
  const silence quiet;
  PMPI_Cancel(&receive);
  PMPI_Wait(&receive, MPI_STATUS_IGNORE);
}

/// Waits for both halves. The receive's error is the call's, as it has the status.
int finish_exchange(const caller &here, MPI_Comm comm, MPI_Request &comes, MPI_Request &goes,
                    MPI_Status *status, const awaited &what) {
  here.wait_until([&] { return is_complete(comes) && is_complete(goes); }, what);
  const int sent = finish(comm, goes, MPI_STATUS_IGNORE);
  const int received = finish(comm, comes, status);
  return received != MPI_SUCCESS ? received : sent;
}

} // namespace

extern "C" {

#define WEFT_COUNT int
#define WEFT_DISPLACEMENT int
#define WEFT_SUFFIX
#include "weft_mpi/wrap/by_count.inc"
#undef WEFT_COUNT
#undef WEFT_DISPLACEMENT
#undef WEFT_SUFFIX

#if MPI_VERSION >= 4
#define WEFT_LARGE_COUNTS 1
#define WEFT_COUNT MPI_Count
#define WEFT_DISPLACEMENT MPI_Aint
#define WEFT_SUFFIX _c
#include "weft_mpi/wrap/by_count.inc"
#endif

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
  WEFT_ENTER("MPI_Probe")
  if (!here.is_task())
    return PMPI_Probe(source, tag, comm, status);
  int flag = 0, error = MPI_SUCCESS;
  const auto has_come = [&] {
    const silence quiet;
    error = PMPI_Iprobe(source, tag, comm, &flag, status);
    return error != MPI_SUCCESS || flag;
  };
  here.wait_until(has_come, {awaited::is::from, comm, source, tag});
  if (error == MPI_SUCCESS && !flag)
    return PMPI_Probe(source, tag, comm, status);
  return tell(comm, error);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  WEFT_ENTER("MPI_Mprobe")
  if (!here.is_task())
    return PMPI_Mprobe(source, tag, comm, message, status);
  int flag = 0, error = MPI_SUCCESS;
  const auto has_come = [&] {
    const silence quiet;
    error = PMPI_Improbe(source, tag, comm, &flag, message, status);
    return error != MPI_SUCCESS || flag;
  };
  here.wait_until(has_come, {awaited::is::from, comm, source, tag});
  if (error == MPI_SUCCESS && !flag)
    return PMPI_Mprobe(source, tag, comm, message, status);
  return tell(comm, error);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  WEFT_ENTER("MPI_Iprobe")
  const int error = PMPI_Iprobe(source, tag, comm, flag, status);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status) {
  WEFT_ENTER("MPI_Improbe")
  const int error = PMPI_Improbe(source, tag, comm, flag, message, status);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
  return note(PMPI_Comm_idup(comm, made, request), request, "MPI_Comm_idup");
}
int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free,
                       MPI_Grequest_cancel_function *cancels, void *extra, MPI_Request *request) {
  return note(PMPI_Grequest_start(query, free, cancels, extra, request), request,
              "MPI_Grequest_start");
}
#if MPI_VERSION >= 4
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request) {
  return note(PMPI_Comm_idup_with_info(comm, info, made, request), request,
              "MPI_Comm_idup_with_info");
}
int MPI_Psend_init(const void *buffer, int parts, MPI_Count count, MPI_Datatype type, int dest,
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  return note_persistent(
      PMPI_Psend_init(buffer, parts, count, type, dest, tag, comm, info, request), request);
}
int MPI_Precv_init(void *buffer, int parts, MPI_Count count, MPI_Datatype type, int source, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  return note_persistent(
      PMPI_Precv_init(buffer, parts, count, type, source, tag, comm, info, request), request);
}
#endif

int MPI_Request_free(MPI_Request *request) {
  if (request) {
    remove_persistent(*request);
    forget_begun(*request);
  }
  return PMPI_Request_free(request);
}

} // extern "C"

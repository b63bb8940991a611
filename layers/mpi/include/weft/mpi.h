// SPDX-License-Identifier: Apache-2.0
// Requests of MPI whose end a task's completion waits for, in C. Blocking calls need no function of
// Weft: docs/user/ranks/mpi.md.
#pragma once

#include <weft/c/error.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

// Ties a request to the running task: its accesses are released, and the task is complete, when its
// body has ended and the request has. *request becomes MPI_REQUEST_NULL, unless it is persistent; a
// persistent request may be started again when the task is complete. *status is written before the
// task is complete; MPI_STATUS_IGNORE is allowed. MPI_ERROR of *status is always written. Without a
// status, a request that fails makes the task fail.
//
// Ownership. *status must live until the task is complete.
// Threads. A task.
// Blocks. Never.
// Errors. NOT_A_TASK outside of tasks; NOT_SUPPORTED without MPI_THREAD_MULTIPLE; INVALID_ARGUMENT;
// OUT_OF_RESOURCES, SHUT_DOWN: the request is as before.
WEFT_API int weft_mpi_bind(MPI_Request *request, MPI_Status *status);

// Does that for each of `count` requests. Of `statuses` each entry is written when its request has
// ended; MPI_STATUSES_IGNORE is allowed.
//
// Ownership. `statuses` must live until the task is complete, `requests` only during the call.
// Threads. A task.
// Blocks. Never.
// Errors. As weft_mpi_bind(); then no request was bound.
WEFT_API int weft_mpi_bindall(int count, MPI_Request *requests, MPI_Status *statuses);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Requests of MPI whose end a task's completion waits for. Blocking calls of MPI need no function of
// Weft: in a task they suspend the task (docs/user/ranks/mpi.md).
#pragma once

#include <weft/config.hpp>

#include <mpi.h>

#include <span>
#include <stdexcept>

namespace weft::inline v0 {
namespace mpi {

/// Is what a task fails with when a request that is bound to the task has failed.
class WEFT_API error : public std::runtime_error {
 public:
  error(const char *call, int code); ///< asks MPI for the text of `code`
  error(const error &) noexcept = default; ///< copies share the text
  error &operator=(const error &) noexcept = default; ///< the same
  ~error() override;

  [[nodiscard]] int code() const noexcept {
    return m_code;
  } ///< the error code of MPI; MPI_Error_class() translates it

 private:
  int m_code;
};

/// Ties a request to the running task: the task's accesses are released, and the task is complete,
/// when its body has ended and the request has. `request` becomes MPI_REQUEST_NULL, unless it is
/// persistent; a persistent request may be started again when the task is complete. `*status` is
/// written before the task is complete, and must live until then; its MPI_ERROR is always written.
///
/// A request that fails calls an error handler as MPI_Testsome() does, in a service: the handler must
/// not wait. If it returns, and there is no status, the task fails with mpi::error.
///
/// Cost. One test; if the request has not ended, an event and four allocations.
/// Threads. A task, of Weft or of Weft's OpenMP.
/// Blocks. Never.
/// Errors. not_a_task outside of tasks; not_supported without MPI_THREAD_MULTIPLE; out_of_resources,
/// shut_down: the request is as before.
WEFT_API void bind(MPI_Request &request, MPI_Status *status = MPI_STATUS_IGNORE);

/// Does that for several requests. Each of `statuses` is written when its request has ended.
///
/// Errors. As bind(); then no request was bound.
WEFT_API void bindall(std::span<MPI_Request> requests, MPI_Status *statuses = MPI_STATUSES_IGNORE);

/// Returns whether calls of MPI in tasks suspend them: MPI is initialised and gives
/// MPI_THREAD_MULTIPLE.
[[nodiscard]] WEFT_API bool is_task_aware() noexcept;

} // namespace mpi
} // namespace weft::inline v0

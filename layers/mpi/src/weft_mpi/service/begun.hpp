// SPDX-License-Identifier: Apache-2.0
// What a thread knows of the requests that it has begun last: their calls, for reports. MPI does not tell
// what a request is.
#pragma once

#include "weft_mpi/service/mpi.hpp"

#include <string>

namespace weft_mpi {

/// Says on which communicator a call waits, and for which rank of it.
struct awaited {
  enum class is { unknown, all, from, to } who = is::unknown;
  MPI_Comm comm = MPI_COMM_NULL; ///< null: one that may be gone
  int rank = 0, tag = 0;
};
/// Returns that in words: " from rank 3, tag 7"; ranks are those of MPI_COMM_WORLD where they are there.
[[nodiscard]] std::string text_of(const awaited &what);

/// Is a call that has begun a request.
struct begun_call {
  const char *name = nullptr; ///< null: not known
  awaited what;
};
/// Returns that in words: "MPI_Irecv from rank 3, tag 7"; "" where it is not known.
[[nodiscard]] std::string text_of(const begun_call &call);

/// Notes what a request is. The thread forgets its oldest note: so the caller that waits for it soon, or binds
/// it, finds it, and nothing has to be taken back.
void note_begun(MPI_Request request, const char *name, const awaited &what) noexcept;
/// Returns what this thread knows of a request.
[[nodiscard]] begun_call begun_of(MPI_Request request) noexcept;

} // namespace weft_mpi

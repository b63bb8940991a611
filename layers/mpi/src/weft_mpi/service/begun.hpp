// SPDX-License-Identifier: Apache-2.0
// What is known of the requests that the program has begun last: their calls, for reports. MPI does not tell
// what a request is, and uses handles again. So each call that begins a request writes the note of its handle, or
// takes away that of an earlier request.
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

/// Notes what a request is. Of a thousand notes the oldest are forgotten. Threads. Any.
void note_begun(MPI_Request request, const char *name, const awaited &what) noexcept;
/// Takes away the note of a handle: its request ends, or another begins. Threads. Any.
void forget_begun(MPI_Request request) noexcept;
/// Returns what is known of a request that has not ended. Threads. Any.
[[nodiscard]] begun_call begun_of(MPI_Request request) noexcept;

/// Is a copy of the handles of a call that may end requests. MPI replaces the handles of those that it ends.
class kept_handles {
 public:
  kept_handles(int count, const MPI_Request *requests) noexcept : m_now(requests) {
    while (requests && m_count < count && m_count < k_most) {
      m_before[m_count] = requests[m_count];
      ++m_count;
    }
  }
  /// Takes away the notes of the requests that have ended.
  void forget_ended() const noexcept {
    for (int i = 0; i != m_count; ++i)
      if (m_now[i] == MPI_REQUEST_NULL && m_before[i] != MPI_REQUEST_NULL)
        forget_begun(m_before[i]);
  }

 private:
  static constexpr int k_most = 64; // the notes of others go when their handles are used again
  const MPI_Request *const m_now;
  int m_count = 0;
  MPI_Request m_before[k_most];
};

} // namespace weft_mpi

// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/begun.hpp"

#include <cstddef>

namespace weft_mpi {
namespace {

constexpr std::size_t k_kept = 64;

struct note {
  MPI_Request request = MPI_REQUEST_NULL;
  begun_call call;
};
struct notes {
  note all[k_kept];
  std::size_t next = 0;
};
thread_local notes t_notes;

} // namespace

void note_begun(MPI_Request request, const char *name, const awaited &what) noexcept {
  notes &own = t_notes;
  note &made = own.all[own.next];
  own.next = (own.next + 1) % k_kept;
  made = {request, {name, what}};
  // The program may free a communicator before its requests have ended. That of all ranks stays.
  if (what.comm != MPI_COMM_WORLD)
    made.call.what.comm = MPI_COMM_NULL;
}

begun_call begun_of(MPI_Request request) noexcept {
  const notes &own = t_notes;
  for (std::size_t back = 1; back <= k_kept; ++back) // the newest: MPI uses handles again
    if (const note &one = own.all[(own.next + k_kept - back) % k_kept];
        one.request == request && one.call.name)
      return one.call;
  return {};
}

std::string text_of(const begun_call &call) {
  return call.name ? call.name + text_of(call.what) : std::string();
}

} // namespace weft_mpi

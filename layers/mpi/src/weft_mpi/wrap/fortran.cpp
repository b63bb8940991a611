// SPDX-License-Identifier: Apache-2.0
// Fortran's calls of Open MPI, whose Fortran interface calls the PMPI_ names, and so would pass this library by. The
// functions here come before those of its mpif.h and module mpi, and call the C functions of this library. MPICH's
// Fortran interface needs none: it calls the C names. Open MPI's module mpi_f08 is not served.
#include "weft_mpi/service/begun.hpp"
#include "weft_mpi/service/mpi.hpp"

#if defined(OPEN_MPI)

#include <cstddef>
#include <vector>

// Fortran's constants are addresses: common blocks of Open MPI's Fortran library, which a C program has not.
extern "C" {
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_status_ignore_ __attribute__((weak));
extern double mpi_fortran_statuses_ignore_ __attribute__((weak));
}

namespace {

using integer = MPI_Fint;

static_assert(
    sizeof(integer) == sizeof(int),
    "layers/mpi: this Open MPI's INTEGER of Fortran is not a C int (it was built with -fdefault-integer-8), "
    "and the arrays of its calls are read as C ints; build Weft with another Open MPI");
constexpr std::size_t k_status =
    sizeof(MPI_Status) / sizeof(integer); // as Fortran's MPI_STATUS_SIZE

void *buffer_of(void *given) noexcept {
  if (given == &mpi_fortran_bottom_)
    return MPI_BOTTOM;
  return given == &mpi_fortran_in_place_ ? MPI_IN_PLACE : given;
}

/// Is where MPI writes a status, for the one of Fortran.
class status_out {
 public:
  explicit status_out(integer *to) noexcept
      : m_to(static_cast<void *>(to) == &mpi_fortran_status_ignore_ ? nullptr : to) {}
  [[nodiscard]] MPI_Status *c() noexcept { return m_to ? &m_status : MPI_STATUS_IGNORE; }
  void give(int error) const noexcept {
    if (m_to && error == MPI_SUCCESS)
      PMPI_Status_c2f(&m_status, m_to);
  }

 private:
  integer *m_to;
  MPI_Status m_status{};
};

/// Is an array of requests, which go back to Fortran, with statuses where these are wanted.
class request_array {
 public:
  request_array(integer count, integer *requests, integer *statuses)
      : m_to(requests),
        m_statuses_to(static_cast<void *>(statuses) == &mpi_fortran_statuses_ignore_ ? nullptr
                                                                                     : statuses) {
    for (integer i = 0; i < count; ++i)
      m_requests.push_back(PMPI_Request_f2c(requests[i]));
    m_statuses.resize(m_requests.size());
  }
  [[nodiscard]] MPI_Request *c() noexcept { return m_requests.data(); }
  [[nodiscard]] MPI_Status *statuses() noexcept {
    return m_statuses_to ? m_statuses.data() : MPI_STATUSES_IGNORE;
  }
  /// Gives back all requests, and the first `ended` statuses.
  void give(std::size_t ended) const noexcept {
    for (std::size_t i = 0; i != m_requests.size(); ++i)
      m_to[i] = PMPI_Request_c2f(m_requests[i]);
    for (std::size_t i = 0; m_statuses_to && i != ended; ++i)
      PMPI_Status_c2f(&m_statuses[i], m_statuses_to + i * k_status);
  }

 private:
  integer *m_to, *m_statuses_to;
  std::vector<MPI_Request> m_requests;
  std::vector<MPI_Status> m_statuses;
};

/// Gives a request that has begun. Its note goes: calls that end it, and begin another with its handle, may be among
/// those that pass the library by.
void give_begun(int error, MPI_Request begun, integer *request) noexcept {
  if (error != MPI_SUCCESS)
    return;
  weft_mpi::forget_begun(begun);
  *request = PMPI_Request_c2f(begun);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void mpi_init_(integer *error) { *error = MPI_Init(nullptr, nullptr); }
void mpi_init_thread_(const integer *wanted, integer *given, integer *error) {
  int level = 0;
  *error = MPI_Init_thread(nullptr, nullptr, *wanted, &level);
  *given = level;
}
void mpi_finalize_(integer *error) { *error = MPI_Finalize(); }

#define WEFT_FORTRAN_SEND(name, function)                                                          \
  void name(void *buffer, const integer *count, const integer *type, const integer *to,            \
            const integer *tag, const integer *comm, integer *error) {                             \
    *error = function(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *to, *tag,                  \
                      PMPI_Comm_f2c(*comm));                                                       \
  }
WEFT_FORTRAN_SEND(mpi_send_, MPI_Send)
WEFT_FORTRAN_SEND(mpi_bsend_, MPI_Bsend)
WEFT_FORTRAN_SEND(mpi_ssend_, MPI_Ssend)
WEFT_FORTRAN_SEND(mpi_rsend_, MPI_Rsend)

#define WEFT_FORTRAN_BEGIN(name, function)                                                         \
  void name(void *buffer, const integer *count, const integer *type, const integer *other,         \
            const integer *tag, const integer *comm, integer *request, integer *error) {           \
    MPI_Request begun = MPI_REQUEST_NULL;                                                          \
    *error = function(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *other, *tag,               \
                      PMPI_Comm_f2c(*comm), &begun);                                               \
    give_begun(*error, begun, request);                                                            \
  }
WEFT_FORTRAN_BEGIN(mpi_isend_, MPI_Isend)
WEFT_FORTRAN_BEGIN(mpi_ibsend_, MPI_Ibsend)
WEFT_FORTRAN_BEGIN(mpi_issend_, MPI_Issend)
WEFT_FORTRAN_BEGIN(mpi_irsend_, MPI_Irsend)
WEFT_FORTRAN_BEGIN(mpi_irecv_, MPI_Irecv)

void mpi_recv_(void *buffer, const integer *count, const integer *type, const integer *source,
               const integer *tag, const integer *comm, integer *status, integer *error) {
  status_out out(status);
  *error = MPI_Recv(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *source, *tag,
                    PMPI_Comm_f2c(*comm), out.c());
  out.give(*error);
}
void mpi_probe_(const integer *source, const integer *tag, const integer *comm, integer *status,
                integer *error) {
  status_out out(status);
  *error = MPI_Probe(*source, *tag, PMPI_Comm_f2c(*comm), out.c());
  out.give(*error);
}
void mpi_sendrecv_(void *sent, const integer *sent_count, const integer *sent_type,
                   const integer *to, const integer *sent_tag, void *received,
                   const integer *received_count, const integer *received_type,
                   const integer *source, const integer *received_tag, const integer *comm,
                   integer *status, integer *error) {
  status_out out(status);
  *error = MPI_Sendrecv(buffer_of(sent), *sent_count, PMPI_Type_f2c(*sent_type), *to, *sent_tag,
                        buffer_of(received), *received_count, PMPI_Type_f2c(*received_type),
                        *source, *received_tag, PMPI_Comm_f2c(*comm), out.c());
  out.give(*error);
}
void mpi_sendrecv_replace_(void *buffer, const integer *count, const integer *type,
                           const integer *to, const integer *sent_tag, const integer *source,
                           const integer *received_tag, const integer *comm, integer *status,
                           integer *error) {
  status_out out(status);
  *error = MPI_Sendrecv_replace(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *to, *sent_tag,
                                *source, *received_tag, PMPI_Comm_f2c(*comm), out.c());
  out.give(*error);
}

void mpi_wait_(integer *request, integer *status, integer *error) {
  status_out out(status);
  MPI_Request awaited = PMPI_Request_f2c(*request);
  *error = MPI_Wait(&awaited, out.c());
  if (*error == MPI_SUCCESS)
    *request = PMPI_Request_c2f(awaited);
  out.give(*error);
}
void mpi_waitall_(const integer *count, integer *requests, integer *statuses, integer *error) {
  request_array all(*count, requests, statuses);
  *error = MPI_Waitall(*count, all.c(), all.statuses());
  all.give(*error == MPI_SUCCESS || *error == MPI_ERR_IN_STATUS ? static_cast<std::size_t>(*count)
                                                                : 0);
}
void mpi_waitany_(const integer *count, integer *requests, integer *index, integer *status,
                  integer *error) {
  status_out out(status);
  request_array all(*count, requests, nullptr);
  int found = MPI_UNDEFINED;
  *error = MPI_Waitany(*count, all.c(), &found, out.c());
  all.give(0);
  *index = found == MPI_UNDEFINED ? found : found + 1; // Fortran counts from 1
  out.give(*error);
}
void mpi_waitsome_(const integer *count, integer *requests, integer *ended, integer *indices,
                   integer *statuses, integer *error) {
  request_array all(*count, requests, statuses);
  int found = 0;
  *error = MPI_Waitsome(*count, all.c(), &found, indices, all.statuses());
  *ended = found;
  const std::size_t given = found == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(found);
  all.give(given);
  for (std::size_t i = 0; i != given; ++i)
    ++indices[i];
}

void mpi_barrier_(const integer *comm, integer *error) {
  *error = MPI_Barrier(PMPI_Comm_f2c(*comm));
}
void mpi_bcast_(void *buffer, const integer *count, const integer *type, const integer *root,
                const integer *comm, integer *error) {
  *error = MPI_Bcast(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm));
}
void mpi_reduce_(void *sent, void *received, const integer *count, const integer *type,
                 const integer *operation, const integer *root, const integer *comm,
                 integer *error) {
  *error = MPI_Reduce(buffer_of(sent), buffer_of(received), *count, PMPI_Type_f2c(*type),
                      PMPI_Op_f2c(*operation), *root, PMPI_Comm_f2c(*comm));
}
#define WEFT_FORTRAN_REDUCTION(name, function)                                                     \
  void name(void *sent, void *received, const integer *count, const integer *type,                 \
            const integer *operation, const integer *comm, integer *error) {                       \
    *error = function(buffer_of(sent), buffer_of(received), *count, PMPI_Type_f2c(*type),          \
                      PMPI_Op_f2c(*operation), PMPI_Comm_f2c(*comm));                              \
  }
WEFT_FORTRAN_REDUCTION(mpi_allreduce_, MPI_Allreduce)
WEFT_FORTRAN_REDUCTION(mpi_scan_, MPI_Scan)
WEFT_FORTRAN_REDUCTION(mpi_exscan_, MPI_Exscan)
WEFT_FORTRAN_REDUCTION(mpi_reduce_scatter_block_, MPI_Reduce_scatter_block)

#define WEFT_FORTRAN_TO_ONE(name, function)                                                        \
  void name(void *sent, const integer *sent_count, const integer *sent_type, void *received,       \
            const integer *received_count, const integer *received_type, const integer *root,      \
            const integer *comm, integer *error) {                                                 \
    *error =                                                                                       \
        function(buffer_of(sent), *sent_count, PMPI_Type_f2c(*sent_type), buffer_of(received),     \
                 *received_count, PMPI_Type_f2c(*received_type), *root, PMPI_Comm_f2c(*comm));     \
  }
WEFT_FORTRAN_TO_ONE(mpi_gather_, MPI_Gather)
WEFT_FORTRAN_TO_ONE(mpi_scatter_, MPI_Scatter)

#define WEFT_FORTRAN_TO_ALL(name, function)                                                        \
  void name(void *sent, const integer *sent_count, const integer *sent_type, void *received,       \
            const integer *received_count, const integer *received_type, const integer *comm,      \
            integer *error) {                                                                      \
    *error =                                                                                       \
        function(buffer_of(sent), *sent_count, PMPI_Type_f2c(*sent_type), buffer_of(received),     \
                 *received_count, PMPI_Type_f2c(*received_type), PMPI_Comm_f2c(*comm));            \
  }
WEFT_FORTRAN_TO_ALL(mpi_allgather_, MPI_Allgather)
WEFT_FORTRAN_TO_ALL(mpi_alltoall_, MPI_Alltoall)

} // extern "C"
#pragma GCC visibility pop

#endif // OPEN_MPI

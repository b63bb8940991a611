// SPDX-License-Identifier: Apache-2.0
// Fortran's calls of Open MPI, whose Fortran interface calls the PMPI_ names, and so would pass this library by. The
// functions here come before those of its mpif.h and of its modules mpi and mpi_f08, and call the C functions of this
// library. MPICH's are in fortran_mpich.cpp.
//
// All arguments of Fortran are addresses, and the types of the C function say what is at each: so most functions are a
// row of a table. The others are those with arrays of requests or of types. A handle of mpi_f08 is a structure of one
// number, and its status has the layout of the numbers of mpi's: so each function has two names, `mpi_send_` and
// `mpi_send_f08_`. Only with the second may the error be left out, which is a null pointer here.
#include "weft_mpi/service/begun.hpp"
#include "weft_mpi/service/mpi.hpp"
#include "weft_mpi/wrap/fortran.hpp"

#if defined(OPEN_MPI)

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Fortran's constants are addresses: common blocks of Open MPI's Fortran library, which a C program has not.
extern "C" {
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_status_ignore_ __attribute__((weak));
extern double mpi_fortran_statuses_ignore_ __attribute__((weak));
extern int mpi_fortran_unweighted_ __attribute__((weak));
extern int mpi_fortran_weights_empty_ __attribute__((weak));
}

namespace {

using weft_mpi::error_out, weft_mpi::integer;

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
  explicit status_out(void *to) noexcept
      : m_to(to == &mpi_fortran_status_ignore_ ? nullptr : static_cast<integer *>(to)) {
    if (m_to) // a probe that finds nothing leaves it as it is
      PMPI_Status_f2c(m_to, &m_status);
  }
  [[nodiscard]] MPI_Status *c() noexcept { return m_to ? &m_status : MPI_STATUS_IGNORE; }
  void give(int error) const noexcept {
    if (m_to && error == MPI_SUCCESS)
      PMPI_Status_c2f(&m_status, m_to);
  }

 private:
  integer *m_to;
  MPI_Status m_status{};
};

// ---- a handle of C, and the number of Fortran
#define WEFT_HANDLE(type, name)                                                                    \
  inline type from_fortran(integer number, type *) noexcept { return PMPI_##name##_f2c(number); }  \
  [[maybe_unused]] inline integer to_fortran(type handle) noexcept {                               \
    return PMPI_##name##_c2f(handle);                                                              \
  }
WEFT_HANDLE(MPI_Comm, Comm)
WEFT_HANDLE(MPI_Datatype, Type)
WEFT_HANDLE(MPI_Group, Group)
WEFT_HANDLE(MPI_Info, Info)
WEFT_HANDLE(MPI_Message, Message)
WEFT_HANDLE(MPI_Op, Op)
WEFT_HANDLE(MPI_Request, Request)
WEFT_HANDLE(MPI_Win, Win)

} // namespace

namespace weft_mpi {

/// Is a handle, or a number of the same size in both languages.
template <class C>
class argument {
 public:
  explicit argument(void *at) noexcept {
    if constexpr (std::is_arithmetic_v<C>)
      m_value = *static_cast<const C *>(at);
    else
      m_value = from_fortran(*static_cast<const integer *>(at), static_cast<C *>(nullptr));
  }
  [[nodiscard]] C c() const noexcept { return m_value; }
  void give(int) const noexcept {}

 private:
  C m_value;
};
/// Is a handle that the function writes, and may read. One that Fortran has not set is none in C. Handles of Open MPI are
/// pointers.
template <class C>
class argument<C **> {
 public:
  explicit argument(void *at) noexcept
      : m_to(static_cast<integer *>(at)), m_handle(from_fortran(*m_to, static_cast<C **>(nullptr))) {}
  [[nodiscard]] C **c() noexcept { return &m_handle; }
  void give(int error) const noexcept {
    if (error == MPI_SUCCESS)
      *m_to = to_fortran(m_handle);
  }

 private:
  integer *m_to;
  C *m_handle;
};
/// Is a flag that the function writes: a LOGICAL, which is 0 or 1 with the compilers that build Open MPI for Debian.
template <>
class argument<int *> {
 public:
  explicit argument(void *at) noexcept : m_to(static_cast<integer *>(at)) {}
  [[nodiscard]] int *c() noexcept { return &m_flag; }
  void give(int error) const noexcept {
    if (error == MPI_SUCCESS)
      *m_to = m_flag != 0 ? 1 : 0;
  }

 private:
  integer *m_to;
  int m_flag = 0;
};
/// Is an array that the function reads.
template <>
class argument<const int *> : public read_argument<const int *> {
 public:
  explicit argument(void *at) noexcept
      : read_argument(at == &mpi_fortran_unweighted_      ? MPI_UNWEIGHTED
             : at == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY
                                                 : static_cast<const int *>(at)) {}
};
template <>
class argument<void *> : public read_argument<void *> {
 public:
  explicit argument(void *at) noexcept : read_argument(buffer_of(at)) {}
};
template <>
class argument<const void *> : public argument<void *> {
  using argument<void *>::argument;
};
template <>
class argument<MPI_Status *> : public status_out {
  using status_out::status_out;
};

} // namespace weft_mpi

namespace {

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

/// Ends some requests. Fortran counts from 1.
void some(int (*function)(int, MPI_Request *, int *, int *, MPI_Status *), integer count,
          integer *requests, integer &ended, integer *indices, integer *statuses, integer &error) {
  request_array all(count, requests, statuses);
  int found = 0;
  error = function(count, all.c(), &found, indices, all.statuses());
  ended = found;
  const std::size_t given = found == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(found);
  all.give(given);
  for (std::size_t i = 0; i != given; ++i)
    ++indices[i];
}

/// Counts the neighbours that a rank of a topology receives from, and those that it sends to. A grid has two in each
/// dimension, whether or not there is a rank.
int count_neighbors(MPI_Comm comm, int &from, int &to) {
  int kind = MPI_UNDEFINED;
  if (const int error = PMPI_Topo_test(comm, &kind); error != MPI_SUCCESS)
    return error;
  int error = MPI_SUCCESS;
  if (kind == MPI_DIST_GRAPH) {
    int has_weights = 0;
    return PMPI_Dist_graph_neighbors_count(comm, &from, &to, &has_weights);
  }
  if (kind == MPI_CART) {
    error = PMPI_Cartdim_get(comm, &from);
    from *= 2;
  } else if (kind == MPI_GRAPH) {
    int rank = 0;
    error = PMPI_Comm_rank(comm, &rank);
    if (error == MPI_SUCCESS)
      error = PMPI_Graph_neighbors_count(comm, rank, &from);
  }
  to = from;
  return error;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// The name of module mpi_f08 for a function.
#define WEFT_F08(name) extern decltype(name) name##f08_ __attribute__((alias(#name)));

void mpi_init_(integer *error_to) { *error_out(error_to) = MPI_Init(nullptr, nullptr); }
WEFT_F08(mpi_init_)
void mpi_init_thread_(const integer *wanted, integer *given, integer *error_to) {
  const error_out error(error_to);
  int level = 0;
  *error = MPI_Init_thread(nullptr, nullptr, *wanted, &level);
  *given = level;
}
WEFT_F08(mpi_init_thread_)
void mpi_finalize_(integer *error_to) { *error_out(error_to) = MPI_Finalize(); }
WEFT_F08(mpi_finalize_)

#define WEFT_FORTRAN_BEGIN(name, function)                                                         \
  void name(void *buffer, const integer *count, const integer *type, const integer *other,         \
            const integer *tag, const integer *comm, integer *request, integer *error_to) {        \
    const error_out error(error_to);                                                               \
    MPI_Request begun = MPI_REQUEST_NULL;                                                          \
    *error = function(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *other, *tag,               \
                      PMPI_Comm_f2c(*comm), &begun);                                               \
    give_begun(*error, begun, request);                                                            \
  }                                                                                                \
  WEFT_F08(name)
WEFT_FORTRAN_BEGIN(mpi_isend_, MPI_Isend)
WEFT_FORTRAN_BEGIN(mpi_ibsend_, MPI_Ibsend)
WEFT_FORTRAN_BEGIN(mpi_issend_, MPI_Issend)
WEFT_FORTRAN_BEGIN(mpi_irsend_, MPI_Irsend)
WEFT_FORTRAN_BEGIN(mpi_irecv_, MPI_Irecv)

void mpi_wait_(integer *request, integer *status, integer *error_to) {
  const error_out error(error_to);
  status_out out(status);
  MPI_Request awaited = PMPI_Request_f2c(*request);
  *error = MPI_Wait(&awaited, out.c());
  if (*error == MPI_SUCCESS)
    *request = PMPI_Request_c2f(awaited);
  out.give(*error);
}
WEFT_F08(mpi_wait_)
void mpi_waitall_(const integer *count, integer *requests, integer *statuses, integer *error_to) {
  const error_out error(error_to);
  request_array all(*count, requests, statuses);
  *error = MPI_Waitall(*count, all.c(), all.statuses());
  all.give(*error == MPI_SUCCESS || *error == MPI_ERR_IN_STATUS ? static_cast<std::size_t>(*count)
                                                                : 0);
}
WEFT_F08(mpi_waitall_)
void mpi_waitany_(const integer *count, integer *requests, integer *index, integer *status,
                  integer *error_to) {
  const error_out error(error_to);
  status_out out(status);
  request_array all(*count, requests, nullptr);
  int found = MPI_UNDEFINED;
  *error = MPI_Waitany(*count, all.c(), &found, out.c());
  all.give(0);
  *index = found == MPI_UNDEFINED ? found : found + 1; // Fortran counts from 1
  out.give(*error);
}
WEFT_F08(mpi_waitany_)
void mpi_waitsome_(const integer *count, integer *requests, integer *ended, integer *indices,
                   integer *statuses, integer *error_to) {
  const error_out error(error_to);
  some(&MPI_Waitsome, *count, requests, *ended, indices, statuses, *error);
}
WEFT_F08(mpi_waitsome_)
void mpi_test_(integer *request, integer *flag, integer *status, integer *error_to) {
  const error_out error(error_to);
  status_out out(status);
  request_array all(1, request, nullptr);
  int is_over = 0;
  *error = MPI_Test(all.c(), &is_over, out.c());
  all.give(0);
  *flag = is_over;
  if (is_over)
    out.give(*error);
}
WEFT_F08(mpi_test_)
void mpi_testall_(const integer *count, integer *requests, integer *flag, integer *statuses,
                  integer *error_to) {
  const error_out error(error_to);
  request_array all(*count, requests, statuses);
  int are_over = 0;
  *error = MPI_Testall(*count, all.c(), &are_over, all.statuses());
  *flag = are_over;
  all.give(are_over || *error == MPI_ERR_IN_STATUS ? static_cast<std::size_t>(*count) : 0);
}
WEFT_F08(mpi_testall_)
void mpi_testany_(const integer *count, integer *requests, integer *index, integer *flag,
                  integer *status, integer *error_to) {
  const error_out error(error_to);
  status_out out(status);
  request_array all(*count, requests, nullptr);
  int found = MPI_UNDEFINED, is_over = 0;
  *error = MPI_Testany(*count, all.c(), &found, &is_over, out.c());
  all.give(0);
  *flag = is_over;
  *index = found == MPI_UNDEFINED ? found : found + 1;
  if (is_over)
    out.give(*error);
}
WEFT_F08(mpi_testany_)
void mpi_testsome_(const integer *count, integer *requests, integer *ended, integer *indices,
                   integer *statuses, integer *error_to) {
  const error_out error(error_to);
  some(&MPI_Testsome, *count, requests, *ended, indices, statuses, *error);
}
WEFT_F08(mpi_testsome_)

/// The types are as many as the ranks that the communicator's ranks send to.
void mpi_alltoallw_(void *sent, const integer *sent_counts, const integer *sent_places,
                    const integer *sent_types, void *received, const integer *received_counts,
                    const integer *received_places, const integer *received_types,
                    const integer *comm, integer *error_to) {
  const error_out error(error_to);
  const MPI_Comm c = PMPI_Comm_f2c(*comm);
  int ranks = 0, is_inter = 0;
  *error = PMPI_Comm_test_inter(c, &is_inter);
  if (*error == MPI_SUCCESS)
    *error = is_inter ? PMPI_Comm_remote_size(c, &ranks) : PMPI_Comm_size(c, &ranks);
  if (*error != MPI_SUCCESS)
    return;
  std::vector<MPI_Datatype> sends, receives;
  for (int i = 0; i < ranks; ++i) {
    receives.push_back(PMPI_Type_f2c(received_types[i]));
    sends.push_back(buffer_of(sent) == MPI_IN_PLACE ? MPI_DATATYPE_NULL
                                                    : PMPI_Type_f2c(sent_types[i]));
  }
  *error = MPI_Alltoallw(buffer_of(sent), sent_counts, sent_places, sends.data(),
                         buffer_of(received), received_counts, received_places, receives.data(), c);
}
WEFT_F08(mpi_alltoallw_)

void mpi_neighbor_alltoallw_(void *sent, const integer *sent_counts, const MPI_Aint *sent_places,
                             const integer *sent_types, void *received,
                             const integer *received_counts, const MPI_Aint *received_places,
                             const integer *received_types, const integer *comm,
                             integer *error_to) {
  const error_out error(error_to);
  const MPI_Comm c = PMPI_Comm_f2c(*comm);
  int from = 0, to = 0;
  *error = count_neighbors(c, from, to);
  if (*error != MPI_SUCCESS)
    return;
  std::vector<MPI_Datatype> sends, receives;
  for (int i = 0; i < to; ++i)
    sends.push_back(PMPI_Type_f2c(sent_types[i]));
  for (int i = 0; i < from; ++i)
    receives.push_back(PMPI_Type_f2c(received_types[i]));
  *error =
      MPI_Neighbor_alltoallw(buffer_of(sent), sent_counts, sent_places, sends.data(),
                             buffer_of(received), received_counts, received_places, receives.data(), c);
}
WEFT_F08(mpi_neighbor_alltoallw_)

// ---- the table: the number of arguments, the name in Fortran, and the function
#define WEFT_FORTRAN_ALONE(count, name, function)                                                  \
  void name(WEFT_PARAMETERS_##count, integer *error_to) {                                          \
    *error_out(error_to) = weft_mpi::call(&function, {WEFT_ARGUMENTS_##count});                              \
  }
#define WEFT_FORTRAN(count, name, function)                                                        \
  WEFT_FORTRAN_ALONE(count, name, function)                                                        \
  WEFT_F08(name)
// clang-format off
WEFT_FORTRAN(6, mpi_send_, MPI_Send)
WEFT_FORTRAN(6, mpi_bsend_, MPI_Bsend)
WEFT_FORTRAN(6, mpi_ssend_, MPI_Ssend)
WEFT_FORTRAN(6, mpi_rsend_, MPI_Rsend)
WEFT_FORTRAN(7, mpi_recv_, MPI_Recv)
WEFT_FORTRAN(12, mpi_sendrecv_, MPI_Sendrecv)
WEFT_FORTRAN(9, mpi_sendrecv_replace_, MPI_Sendrecv_replace)
WEFT_FORTRAN(4, mpi_probe_, MPI_Probe)
WEFT_FORTRAN(5, mpi_iprobe_, MPI_Iprobe)
WEFT_FORTRAN(5, mpi_mprobe_, MPI_Mprobe)
WEFT_FORTRAN(6, mpi_improbe_, MPI_Improbe)
WEFT_FORTRAN(5, mpi_mrecv_, MPI_Mrecv)
WEFT_FORTRAN(3, mpi_request_get_status_, MPI_Request_get_status)
WEFT_FORTRAN(2, mpi_abort_, MPI_Abort)
WEFT_FORTRAN(1, mpi_barrier_, MPI_Barrier)
WEFT_FORTRAN(5, mpi_bcast_, MPI_Bcast)
WEFT_FORTRAN(7, mpi_reduce_, MPI_Reduce)
WEFT_FORTRAN(6, mpi_allreduce_, MPI_Allreduce)
WEFT_FORTRAN(6, mpi_scan_, MPI_Scan)
WEFT_FORTRAN(6, mpi_exscan_, MPI_Exscan)
WEFT_FORTRAN(6, mpi_reduce_scatter_, MPI_Reduce_scatter)
WEFT_FORTRAN(6, mpi_reduce_scatter_block_, MPI_Reduce_scatter_block)
WEFT_FORTRAN(8, mpi_gather_, MPI_Gather)
WEFT_FORTRAN(9, mpi_gatherv_, MPI_Gatherv)
WEFT_FORTRAN(8, mpi_scatter_, MPI_Scatter)
WEFT_FORTRAN(9, mpi_scatterv_, MPI_Scatterv)
WEFT_FORTRAN(7, mpi_allgather_, MPI_Allgather)
WEFT_FORTRAN(8, mpi_allgatherv_, MPI_Allgatherv)
WEFT_FORTRAN(7, mpi_alltoall_, MPI_Alltoall)
WEFT_FORTRAN(9, mpi_alltoallv_, MPI_Alltoallv)
WEFT_FORTRAN(7, mpi_neighbor_allgather_, MPI_Neighbor_allgather)
WEFT_FORTRAN(8, mpi_neighbor_allgatherv_, MPI_Neighbor_allgatherv)
WEFT_FORTRAN(7, mpi_neighbor_alltoall_, MPI_Neighbor_alltoall)
WEFT_FORTRAN(9, mpi_neighbor_alltoallv_, MPI_Neighbor_alltoallv)
WEFT_FORTRAN(2, mpi_comm_dup_, MPI_Comm_dup)
WEFT_FORTRAN(3, mpi_comm_dup_with_info_, MPI_Comm_dup_with_info)
WEFT_FORTRAN(3, mpi_comm_create_, MPI_Comm_create)
WEFT_FORTRAN(4, mpi_comm_create_group_, MPI_Comm_create_group)
WEFT_FORTRAN(4, mpi_comm_split_, MPI_Comm_split)
WEFT_FORTRAN(5, mpi_comm_split_type_, MPI_Comm_split_type)
WEFT_FORTRAN(1, mpi_comm_free_, MPI_Comm_free)
WEFT_FORTRAN(1, mpi_comm_disconnect_, MPI_Comm_disconnect)
WEFT_FORTRAN(6, mpi_intercomm_create_, MPI_Intercomm_create)
WEFT_FORTRAN(3, mpi_intercomm_merge_, MPI_Intercomm_merge)
WEFT_FORTRAN(6, mpi_cart_create_, MPI_Cart_create)
WEFT_FORTRAN(3, mpi_cart_sub_, MPI_Cart_sub)
WEFT_FORTRAN(6, mpi_graph_create_, MPI_Graph_create)
WEFT_FORTRAN(9, mpi_dist_graph_create_, MPI_Dist_graph_create)
WEFT_FORTRAN(10, mpi_dist_graph_create_adjacent_, MPI_Dist_graph_create_adjacent)
WEFT_FORTRAN(6, mpi_win_create_, MPI_Win_create)
WEFT_FORTRAN(6, mpi_win_allocate_, MPI_Win_allocate)
WEFT_FORTRAN_ALONE(6, mpi_win_allocate_cptr_, MPI_Win_allocate)
WEFT_FORTRAN(6, mpi_win_allocate_shared_, MPI_Win_allocate_shared)
WEFT_FORTRAN_ALONE(6, mpi_win_allocate_shared_cptr_, MPI_Win_allocate_shared)
WEFT_FORTRAN(3, mpi_win_create_dynamic_, MPI_Win_create_dynamic)
WEFT_FORTRAN(1, mpi_win_free_, MPI_Win_free)
WEFT_FORTRAN(2, mpi_win_fence_, MPI_Win_fence)
WEFT_FORTRAN(3, mpi_win_start_, MPI_Win_start)
WEFT_FORTRAN(1, mpi_win_complete_, MPI_Win_complete)
WEFT_FORTRAN(1, mpi_win_wait_, MPI_Win_wait)
WEFT_FORTRAN(2, mpi_win_test_, MPI_Win_test)
WEFT_FORTRAN(4, mpi_win_lock_, MPI_Win_lock)
WEFT_FORTRAN(2, mpi_win_lock_all_, MPI_Win_lock_all)
WEFT_FORTRAN(2, mpi_win_unlock_, MPI_Win_unlock)
WEFT_FORTRAN(1, mpi_win_unlock_all_, MPI_Win_unlock_all)
WEFT_FORTRAN(2, mpi_win_flush_, MPI_Win_flush)
WEFT_FORTRAN(1, mpi_win_flush_all_, MPI_Win_flush_all)
WEFT_FORTRAN(2, mpi_win_flush_local_, MPI_Win_flush_local)
WEFT_FORTRAN(1, mpi_win_flush_local_all_, MPI_Win_flush_local_all)
// clang-format on

} // extern "C"
#pragma GCC visibility pop

#endif // OPEN_MPI

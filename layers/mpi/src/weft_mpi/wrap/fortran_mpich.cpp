// SPDX-License-Identifier: Apache-2.0
// Fortran's calls of MPICH by module mpi_f08. Those with a buffer call the C names, as all calls of mpif.h and of module
// mpi do; the others call the PMPI_ names, and so would pass this library by. The functions here come before the latter.
//
// Handles and statuses are as in C, so all but the numbers that begin with 1 go through as they are.
#include "weft_mpi/service/mpi.hpp"
#include "weft_mpi/wrap/fortran.hpp"

#if defined(MPICH_VERSION)

#include <cstddef>
#include <string>
#include <type_traits>

// Constants of mpi_f08 are addresses: of these, which are in MPICH's Fortran library, and of some that mpi.h declares.
extern "C" {
extern int __mpi_f08_link_constants_MOD_mpi_unweighted __attribute__((weak));
extern int __mpi_f08_link_constants_MOD_mpi_weights_empty __attribute__((weak));
}

namespace weft_mpi {

/// Is a handle or a number.
template <class C>
class argument {
  static_assert(std::is_arithmetic_v<C>);

 public:
  explicit argument(void *at) noexcept : m_value(*static_cast<const C *>(at)) {}
  [[nodiscard]] C c() const noexcept { return m_value; }
  void give(int) const noexcept {}

 private:
  C m_value;
};
/// Is what the function writes: a handle, handles, a number, or a LOGICAL, which is 0 or 1 as in C.
template <class C>
class argument<C *> {
 public:
  explicit argument(void *at) noexcept : m_at(static_cast<C *>(at)) {}
  [[nodiscard]] C *c() const noexcept { return m_at; }
  void give(int) const noexcept {}

 private:
  C *m_at;
};
template <>
class argument<void *> : public read_argument<void *> {
 public:
  explicit argument(void *at) noexcept : read_argument(at) {}
};
/// Is an array that the function reads.
template <>
class argument<const int *> : public read_argument<const int *> {
 public:
  explicit argument(void *at) noexcept
      : read_argument(at == &__mpi_f08_link_constants_MOD_mpi_unweighted      ? MPI_UNWEIGHTED
             : at == &__mpi_f08_link_constants_MOD_mpi_weights_empty ? MPI_WEIGHTS_EMPTY
                                                                     : static_cast<const int *>(at)) {}
};
/// Is a status, or several.
template <>
class argument<MPI_Status *> {
 public:
  explicit argument(void *at) noexcept
      : m_at(at == &MPIR_F08_MPI_STATUS_IGNORE_OBJ    ? MPI_STATUS_IGNORE
             : at == MPIR_F08_MPI_STATUSES_IGNORE_OBJ ? MPI_STATUSES_IGNORE
                                                      : static_cast<MPI_Status *>(at)) {}
  [[nodiscard]] MPI_Status *c() const noexcept { return m_at; }
  void give(int) const noexcept {}

 private:
  MPI_Status *m_at;
};

} // namespace weft_mpi

namespace {

using weft_mpi::argument, weft_mpi::error_out, weft_mpi::integer;

/// Fortran counts from 1.
void give_index(int found, integer *to) noexcept {
  *to = found == MPI_UNDEFINED ? found : found + 1;
}

using some_function = int (*)(int, MPI_Request *, int *, int *, MPI_Status *);
void end_some(some_function function, integer count, integer *requests, integer *ended,
              integer *indices, void *statuses, integer *error_to) {
  int found = 0; // a call that is refused writes none
  *error_out(error_to) =
      function(count, requests, &found, indices, argument<MPI_Status *>(statuses).c());
  for (integer i = 0; found != MPI_UNDEFINED && i < found; ++i)
    ++indices[i];
  *ended = found;
}

/// Returns a string of Fortran, whose end is filled with blanks.
std::string text(const char *from, std::size_t length) {
  std::string made(from, length);
  made.erase(made.find_last_not_of(' ') + 1);
  return made;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void mpi_init_f08_(integer *error_to) { *error_out(error_to) = MPI_Init(nullptr, nullptr); }
void mpi_init_thread_f08_(const integer *wanted, integer *given, integer *error_to) {
  *error_out(error_to) = MPI_Init_thread(nullptr, nullptr, *wanted, given);
}
void mpi_finalize_f08_(integer *error_to) { *error_out(error_to) = MPI_Finalize(); }

void mpi_waitany_f08_(const integer *count, integer *requests, integer *index, void *status,
                      integer *error_to) {
  int found = MPI_UNDEFINED;
  *error_out(error_to) =
      MPI_Waitany(*count, requests, &found, argument<MPI_Status *>(status).c());
  give_index(found, index);
}
void mpi_testany_f08_(const integer *count, integer *requests, integer *index, integer *flag,
                      void *status, integer *error_to) {
  int found = MPI_UNDEFINED;
  *error_out(error_to) =
      MPI_Testany(*count, requests, &found, flag, argument<MPI_Status *>(status).c());
  give_index(found, index);
}
void mpi_waitsome_f08_(const integer *count, integer *requests, integer *ended, integer *indices,
                       void *statuses, integer *error_to) {
  end_some(&MPI_Waitsome, *count, requests, ended, indices, statuses, error_to);
}
void mpi_testsome_f08_(const integer *count, integer *requests, integer *ended, integer *indices,
                       void *statuses, integer *error_to) {
  end_some(&MPI_Testsome, *count, requests, ended, indices, statuses, error_to);
}

void mpi_comm_create_errhandler_f08_(MPI_Comm_errhandler_function *function, integer *handler,
                                     integer *error_to) {
  *error_out(error_to) = MPI_Comm_create_errhandler(function, handler);
}

// MPICH calls the functions of a request as Fortran's where this says so.
[[gnu::weak]] void MPII_Grequest_set_lang_f77(MPI_Request request);
void mpi_grequest_start_f08_(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free,
                             MPI_Grequest_cancel_function *cancels, void *extra, integer *request,
                             integer *error_to) {
  const int error = MPI_Grequest_start(query, free, cancels, extra, request);
  if (error == MPI_SUCCESS && &MPII_Grequest_set_lang_f77)
    MPII_Grequest_set_lang_f77(*request);
  *error_out(error_to) = error;
}

// ---- files, whose handles are numbers in Fortran alone
void mpi_file_open_f08_(const integer *comm, const char *name, const integer *mode,
                        const integer *info, integer *made, integer *error_to, std::size_t length) {
  MPI_File file = MPI_FILE_NULL;
  *error_out(error_to) = MPI_File_open(*comm, text(name, length).c_str(), *mode, *info, &file);
  *made = MPI_File_c2f(file);
}
void mpi_file_close_f08_(integer *file_at, integer *error_to) {
  MPI_File file = MPI_File_f2c(*file_at);
  *error_out(error_to) = MPI_File_close(&file);
  *file_at = MPI_File_c2f(file);
}
void mpi_file_delete_f08_(const char *name, const integer *info, integer *error_to,
                          std::size_t length) {
  *error_out(error_to) = MPI_File_delete(text(name, length).c_str(), *info);
}
void mpi_file_set_size_f08_(const integer *file, const MPI_Offset *bytes, integer *error_to) {
  *error_out(error_to) = MPI_File_set_size(MPI_File_f2c(*file), *bytes);
}
void mpi_file_preallocate_f08_(const integer *file, const MPI_Offset *bytes, integer *error_to) {
  *error_out(error_to) = MPI_File_preallocate(MPI_File_f2c(*file), *bytes);
}
void mpi_file_set_view_f08_(const integer *file, const MPI_Offset *place, const integer *unit,
                            const integer *type, const char *form, const integer *info,
                            integer *error_to, std::size_t length) {
  *error_out(error_to) = MPI_File_set_view(MPI_File_f2c(*file), *place, *unit, *type,
                                           text(form, length).c_str(), *info);
}
void mpi_file_sync_f08_(const integer *file, integer *error_to) {
  *error_out(error_to) = MPI_File_sync(MPI_File_f2c(*file));
}
void mpi_file_seek_shared_f08_(const integer *file, const MPI_Offset *place, const integer *from,
                               integer *error_to) {
  *error_out(error_to) = MPI_File_seek_shared(MPI_File_f2c(*file), *place, *from);
}

#if MPI_VERSION >= 4
void mpi_comm_create_from_group_f08_(const integer *group, const char *name, const integer *info,
                                     const integer *handler, integer *made, integer *error_to,
                                     std::size_t length) {
  *error_out(error_to) =
      MPI_Comm_create_from_group(*group, text(name, length).c_str(), *info, *handler, made);
}
void mpi_intercomm_create_from_groups_f08_(const integer *local, const integer *leader,
                                           const integer *remote, const integer *remote_leader,
                                           const char *name, const integer *info,
                                           const integer *handler, integer *made, integer *error_to,
                                           std::size_t length) {
  *error_out(error_to) =
      MPI_Intercomm_create_from_groups(*local, *leader, *remote, *remote_leader,
                                       text(name, length).c_str(), *info, *handler, made);
}
#endif

// ---- the table: the number of arguments, the name in Fortran, and the function
#define WEFT_FORTRAN(count, name, function)                                                        \
  void name(WEFT_PARAMETERS_##count, integer *error_to) {                                          \
    *error_out(error_to) = weft_mpi::call(&function, {WEFT_ARGUMENTS_##count});                    \
  }
// clang-format off
WEFT_FORTRAN(2, mpi_wait_f08_, MPI_Wait)
WEFT_FORTRAN(3, mpi_waitall_f08_, MPI_Waitall)
WEFT_FORTRAN(3, mpi_test_f08_, MPI_Test)
WEFT_FORTRAN(4, mpi_testall_f08_, MPI_Testall)
WEFT_FORTRAN(4, mpi_probe_f08_, MPI_Probe)
WEFT_FORTRAN(5, mpi_iprobe_f08_, MPI_Iprobe)
WEFT_FORTRAN(5, mpi_mprobe_f08_, MPI_Mprobe)
WEFT_FORTRAN(6, mpi_improbe_f08_, MPI_Improbe)
WEFT_FORTRAN(3, mpi_request_get_status_f08_, MPI_Request_get_status)
WEFT_FORTRAN(1, mpi_request_free_f08_, MPI_Request_free)
WEFT_FORTRAN(2, mpi_abort_f08_, MPI_Abort)
WEFT_FORTRAN(1, mpi_barrier_f08_, MPI_Barrier)
WEFT_FORTRAN(2, mpi_ibarrier_f08_, MPI_Ibarrier)
WEFT_FORTRAN(2, mpi_comm_set_errhandler_f08_, MPI_Comm_set_errhandler)
WEFT_FORTRAN(2, mpi_comm_get_errhandler_f08_, MPI_Comm_get_errhandler)
WEFT_FORTRAN(2, mpi_comm_dup_f08_, MPI_Comm_dup)
WEFT_FORTRAN(3, mpi_comm_dup_with_info_f08_, MPI_Comm_dup_with_info)
WEFT_FORTRAN(3, mpi_comm_idup_f08_, MPI_Comm_idup)
WEFT_FORTRAN(3, mpi_comm_create_f08_, MPI_Comm_create)
WEFT_FORTRAN(4, mpi_comm_create_group_f08_, MPI_Comm_create_group)
WEFT_FORTRAN(4, mpi_comm_split_f08_, MPI_Comm_split)
WEFT_FORTRAN(5, mpi_comm_split_type_f08_, MPI_Comm_split_type)
WEFT_FORTRAN(1, mpi_comm_free_f08_, MPI_Comm_free)
WEFT_FORTRAN(1, mpi_comm_disconnect_f08_, MPI_Comm_disconnect)
WEFT_FORTRAN(6, mpi_intercomm_create_f08_, MPI_Intercomm_create)
WEFT_FORTRAN(3, mpi_intercomm_merge_f08_, MPI_Intercomm_merge)
WEFT_FORTRAN(6, mpi_cart_create_f08_, MPI_Cart_create)
WEFT_FORTRAN(3, mpi_cart_sub_f08_, MPI_Cart_sub)
WEFT_FORTRAN(6, mpi_graph_create_f08_, MPI_Graph_create)
WEFT_FORTRAN(9, mpi_dist_graph_create_f08_, MPI_Dist_graph_create)
WEFT_FORTRAN(10, mpi_dist_graph_create_adjacent_f08_, MPI_Dist_graph_create_adjacent)
WEFT_FORTRAN(6, mpi_win_allocate_f08_, MPI_Win_allocate)
WEFT_FORTRAN(6, mpi_win_allocate_shared_f08_, MPI_Win_allocate_shared)
WEFT_FORTRAN(3, mpi_win_create_dynamic_f08_, MPI_Win_create_dynamic)
WEFT_FORTRAN(1, mpi_win_free_f08_, MPI_Win_free)
WEFT_FORTRAN(2, mpi_win_fence_f08_, MPI_Win_fence)
WEFT_FORTRAN(3, mpi_win_start_f08_, MPI_Win_start)
WEFT_FORTRAN(1, mpi_win_complete_f08_, MPI_Win_complete)
WEFT_FORTRAN(1, mpi_win_wait_f08_, MPI_Win_wait)
WEFT_FORTRAN(2, mpi_win_test_f08_, MPI_Win_test)
WEFT_FORTRAN(4, mpi_win_lock_f08_, MPI_Win_lock)
WEFT_FORTRAN(2, mpi_win_lock_all_f08_, MPI_Win_lock_all)
WEFT_FORTRAN(2, mpi_win_unlock_f08_, MPI_Win_unlock)
WEFT_FORTRAN(1, mpi_win_unlock_all_f08_, MPI_Win_unlock_all)
WEFT_FORTRAN(2, mpi_win_flush_f08_, MPI_Win_flush)
WEFT_FORTRAN(1, mpi_win_flush_all_f08_, MPI_Win_flush_all)
WEFT_FORTRAN(2, mpi_win_flush_local_f08_, MPI_Win_flush_local)
WEFT_FORTRAN(1, mpi_win_flush_local_all_f08_, MPI_Win_flush_local_all)
WEFT_FORTRAN(2, mpi_buffer_detach_f08_, MPI_Buffer_detach)
#if MPI_VERSION >= 4
WEFT_FORTRAN(3, mpi_session_init_f08_, MPI_Session_init)
WEFT_FORTRAN(3, mpi_barrier_init_f08_, MPI_Barrier_init)
WEFT_FORTRAN(4, mpi_comm_idup_with_info_f08_, MPI_Comm_idup_with_info)
WEFT_FORTRAN(6, mpi_win_allocate_f08_large_, MPI_Win_allocate_c)
WEFT_FORTRAN(6, mpi_win_allocate_shared_f08_large_, MPI_Win_allocate_shared_c)
WEFT_FORTRAN(2, mpi_buffer_detach_f08_large_, MPI_Buffer_detach_c)
#endif
// clang-format on

} // extern "C"
#pragma GCC visibility pop

#endif // MPICH_VERSION

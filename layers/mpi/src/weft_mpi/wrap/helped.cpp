// SPDX-License-Identifier: Apache-2.0
// Blocking calls without a non-blocking form: synchronization of one-sided communication, and what
// makes and ends communicators and windows. In a task they run on a thread of the library.
//
// So do calls of files. Some have non-blocking forms, which do not serve: with MPICH 4.0 their requests do not end while
// their status alone is asked for, and Open MPI 4.1 crashes in its list of them (docs/design/mpi.md).
#include "weft_mpi/wrap/wrap.hpp"

using namespace weft_mpi;

#define WEFT_HELPED(name, parameters, arguments)                                                   \
  int MPI_##name parameters {                                                                      \
    WEFT_ENTER("MPI_" #name)                                                                       \
    if (!here.is_task())                                                                           \
      return PMPI_##name arguments;                                                                \
    return here.on_helper([&]() noexcept { return PMPI_##name arguments; });                       \
  }

extern "C" {

WEFT_HELPED(Win_fence, (int assert, MPI_Win win), (assert, win))
WEFT_HELPED(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
WEFT_HELPED(Win_complete, (MPI_Win win), (win))
WEFT_HELPED(Win_lock, (int type, int rank, int assert, MPI_Win win), (type, rank, assert, win))
WEFT_HELPED(Win_lock_all, (int assert, MPI_Win win), (assert, win))
WEFT_HELPED(Win_unlock, (int rank, MPI_Win win), (rank, win))
WEFT_HELPED(Win_unlock_all, (MPI_Win win), (win))
WEFT_HELPED(Win_flush, (int rank, MPI_Win win), (rank, win))
WEFT_HELPED(Win_flush_all, (MPI_Win win), (win))
WEFT_HELPED(Win_flush_local, (int rank, MPI_Win win), (rank, win))
WEFT_HELPED(Win_flush_local_all, (MPI_Win win), (win))

WEFT_HELPED(Win_create,
            (void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
            (base, bytes, unit, info, comm, win))
WEFT_HELPED(Win_allocate,
            (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
            (bytes, unit, info, comm, base, win))
WEFT_HELPED(Win_allocate_shared,
            (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
            (bytes, unit, info, comm, base, win))
WEFT_HELPED(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
WEFT_HELPED(Win_free, (MPI_Win * win), (win))
#if MPI_VERSION >= 4
WEFT_HELPED(Win_create_c,
            (void *base, MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
            (base, bytes, unit, info, comm, win))
WEFT_HELPED(Win_allocate_c,
            (MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
            (bytes, unit, info, comm, base, win))
WEFT_HELPED(Win_allocate_shared_c,
            (MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
            (bytes, unit, info, comm, base, win))
#endif

WEFT_HELPED(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
WEFT_HELPED(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
WEFT_HELPED(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
WEFT_HELPED(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
            (comm, group, tag, made))
WEFT_HELPED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
            (comm, color, key, made))
WEFT_HELPED(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
            (comm, type, key, info, made))
WEFT_HELPED(Comm_free, (MPI_Comm * comm), (comm))
WEFT_HELPED(Comm_disconnect, (MPI_Comm * comm), (comm))
WEFT_HELPED(Intercomm_create,
            (MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag,
             MPI_Comm *made),
            (local, leader, peers, remote_leader, tag, made))
WEFT_HELPED(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
WEFT_HELPED(Cart_create,
            (MPI_Comm comm, int count, const int sizes[], const int periods[], int reorder,
             MPI_Comm *made),
            (comm, count, sizes, periods, reorder, made))
WEFT_HELPED(Cart_sub, (MPI_Comm comm, const int remains[], MPI_Comm *made), (comm, remains, made))
WEFT_HELPED(Graph_create,
            (MPI_Comm comm, int count, const int index[], const int edges[], int reorder,
             MPI_Comm *made),
            (comm, count, index, edges, reorder, made))
WEFT_HELPED(Dist_graph_create,
            (MPI_Comm comm, int count, const int sources[], const int degrees[],
             const int targets[], const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
            (comm, count, sources, degrees, targets, weights, info, reorder, made))
WEFT_HELPED(Dist_graph_create_adjacent,
            (MPI_Comm comm, int in_count, const int sources[], const int source_weights[],
             int out_count, const int targets[], const int target_weights[], MPI_Info info,
             int reorder, MPI_Comm *made),
            (comm, in_count, sources, source_weights, out_count, targets, target_weights, info,
             reorder, made))
#if MPI_VERSION >= 4
WEFT_HELPED(Comm_create_from_group,
            (MPI_Group group, const char *name, MPI_Info info, MPI_Errhandler handler,
             MPI_Comm *made),
            (group, name, info, handler, made))
WEFT_HELPED(Intercomm_create_from_groups,
            (MPI_Group local, int leader, MPI_Group remote, int remote_leader, const char *name,
             MPI_Info info, MPI_Errhandler handler, MPI_Comm *made),
            (local, leader, remote, remote_leader, name, info, handler, made))
#endif
WEFT_HELPED(Comm_join, (int socket, MPI_Comm *made), (socket, made))
WEFT_HELPED(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
            (port, info, root, comm, made))
WEFT_HELPED(Comm_connect,
            (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
            (port, info, root, comm, made))
WEFT_HELPED(Comm_spawn,
            (const char *command, char *arguments[], int count, MPI_Info info, int root,
             MPI_Comm comm, MPI_Comm *made, int errors[]),
            (command, arguments, count, info, root, comm, made, errors))
WEFT_HELPED(Comm_spawn_multiple,
            (int count, char *commands[], char **arguments[], const int most[],
             const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *made, int errors[]),
            (count, commands, arguments, most, infos, root, comm, made, errors))
WEFT_HELPED(Buffer_detach, (void *buffer, int *bytes), (buffer, bytes))
#if MPI_VERSION >= 4
WEFT_HELPED(Buffer_detach_c, (void *buffer, MPI_Count *bytes), (buffer, bytes))
#endif

WEFT_HELPED(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *made),
            (comm, name, mode, info, made))
WEFT_HELPED(File_close, (MPI_File * file), (file))
WEFT_HELPED(File_delete, (const char *name, MPI_Info info), (name, info))
WEFT_HELPED(File_set_size, (MPI_File file, MPI_Offset bytes), (file, bytes))
WEFT_HELPED(File_preallocate, (MPI_File file, MPI_Offset bytes), (file, bytes))
WEFT_HELPED(File_set_view,
            (MPI_File file, MPI_Offset place, MPI_Datatype unit, MPI_Datatype type,
             const char *form, MPI_Info info),
            (file, place, unit, type, form, info))
WEFT_HELPED(File_sync, (MPI_File file), (file))
WEFT_HELPED(File_seek_shared, (MPI_File file, MPI_Offset place, int from), (file, place, from))

#define WEFT_FILE_CALL(name, buffer_type, count_type)                                              \
  WEFT_HELPED(name,                                                                                \
              (MPI_File file, buffer_type buffer, count_type count, MPI_Datatype type,             \
               MPI_Status *status),                                                                \
              (file, buffer, count, type, status))
#define WEFT_FILE_AT(name, buffer_type, count_type)                                                \
  WEFT_HELPED(name,                                                                                \
              (MPI_File file, MPI_Offset place, buffer_type buffer, count_type count,              \
               MPI_Datatype type, MPI_Status *status),                                             \
              (file, place, buffer, count, type, status))
#define WEFT_FILE_BEGIN(name, buffer_type, count_type)                                             \
  WEFT_HELPED(name, (MPI_File file, buffer_type buffer, count_type count, MPI_Datatype type),      \
              (file, buffer, count, type))
#define WEFT_FILE_AT_BEGIN(name, buffer_type, count_type)                                          \
  WEFT_HELPED(name,                                                                                \
              (MPI_File file, MPI_Offset place, buffer_type buffer, count_type count,              \
               MPI_Datatype type),                                                                 \
              (file, place, buffer, count, type))
#define WEFT_FILE_END(name, buffer_type)                                                           \
  WEFT_HELPED(name, (MPI_File file, buffer_type buffer, MPI_Status *status), (file, buffer, status))
// `suffix` is nothing, or _c of the forms with large counts.
#define WEFT_FILE_CALLS(suffix, count_type)                                                        \
  WEFT_FILE_CALL(File_read##suffix, void *, count_type)                                            \
  WEFT_FILE_CALL(File_read_all##suffix, void *, count_type)                                        \
  WEFT_FILE_CALL(File_read_shared##suffix, void *, count_type)                                     \
  WEFT_FILE_CALL(File_read_ordered##suffix, void *, count_type)                                    \
  WEFT_FILE_AT(File_read_at##suffix, void *, count_type)                                           \
  WEFT_FILE_AT(File_read_at_all##suffix, void *, count_type)                                       \
  WEFT_FILE_CALL(File_write##suffix, const void *, count_type)                                     \
  WEFT_FILE_CALL(File_write_all##suffix, const void *, count_type)                                 \
  WEFT_FILE_CALL(File_write_shared##suffix, const void *, count_type)                              \
  WEFT_FILE_CALL(File_write_ordered##suffix, const void *, count_type)                             \
  WEFT_FILE_AT(File_write_at##suffix, const void *, count_type)                                    \
  WEFT_FILE_AT(File_write_at_all##suffix, const void *, count_type)                                \
  WEFT_FILE_BEGIN(File_read_all_begin##suffix, void *, count_type)                                 \
  WEFT_FILE_BEGIN(File_read_ordered_begin##suffix, void *, count_type)                             \
  WEFT_FILE_AT_BEGIN(File_read_at_all_begin##suffix, void *, count_type)                           \
  WEFT_FILE_BEGIN(File_write_all_begin##suffix, const void *, count_type)                          \
  WEFT_FILE_BEGIN(File_write_ordered_begin##suffix, const void *, count_type)                      \
  WEFT_FILE_AT_BEGIN(File_write_at_all_begin##suffix, const void *, count_type)
WEFT_FILE_CALLS(, int)
#if MPI_VERSION >= 4
WEFT_FILE_CALLS(_c, MPI_Count)
#endif
WEFT_FILE_END(File_read_all_end, void *)
WEFT_FILE_END(File_read_ordered_end, void *)
WEFT_FILE_END(File_read_at_all_end, void *)
WEFT_FILE_END(File_write_all_end, const void *)
WEFT_FILE_END(File_write_ordered_end, const void *)
WEFT_FILE_END(File_write_at_all_end, const void *)
#undef WEFT_FILE_CALL
#undef WEFT_FILE_AT
#undef WEFT_FILE_BEGIN
#undef WEFT_FILE_AT_BEGIN
#undef WEFT_FILE_END
#undef WEFT_FILE_CALLS

/// Ends the exposure of a window: MPI has a test for it.
int MPI_Win_wait(MPI_Win win) {
  WEFT_ENTER("MPI_Win_wait")
  if (!here.is_task())
    return PMPI_Win_wait(win);
  int flag = 0, error = MPI_SUCCESS;
  here.wait_until([&] {
    error = PMPI_Win_test(win, &flag);
    return error != MPI_SUCCESS || flag;
  });
  return error == MPI_SUCCESS && !flag ? PMPI_Win_wait(win) : error;
}

int MPI_Win_test(MPI_Win win, int *flag) {
  WEFT_ENTER("MPI_Win_test")
  const int error = PMPI_Win_test(win, flag);
  if (error == MPI_SUCCESS && !*flag)
    here.yield();
  return error;
}

} // extern "C"

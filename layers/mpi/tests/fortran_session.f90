! SPDX-License-Identifier: Apache-2.0
! Calls MPI in a task when the program has a session alone, by module mpi_f08: the call works, and a line says that it holds its
! worker.
program fortran_session
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  integer :: x = 5
  call MPI_SESSION_INIT(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_GROUP_FROM_SESSION_PSET(session, 'mpi://SELF', group)
  call MPI_COMM_CREATE_FROM_GROUP(group, 'weft', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  !$omp parallel num_threads(2)
  !$omp single
  !$omp task
  call MPI_SENDRECV_REPLACE(x, 1, MPI_INTEGER, 0, 3, 0, 3, comm, MPI_STATUS_IGNORE)
  !$omp end task
  !$omp end single
  !$omp end parallel
  call MPI_COMM_FREE(comm)
  call MPI_GROUP_FREE(group)
  call MPI_SESSION_FINALIZE(session)
  print '(a,i0)', 'session: ', x
end program

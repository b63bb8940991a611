! SPDX-License-Identifier: Apache-2.0
! Fortran's MPI calls in OpenMP tasks, on two ranks of one worker: tasks receive, each on a thread of the team, and only
! when all have begun are those made that send. A call that held its worker would let the first one begin only.
program fortran
  use mpi
  implicit none
  integer, parameter :: tasks = 8, seconds = 20
  integer :: level, rank, other, error, i, begun, right, received(tasks), request, joined
  integer :: status(MPI_STATUS_SIZE, tasks)
  double precision :: since

  call MPI_INIT_THREAD(MPI_THREAD_MULTIPLE, level, error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  begun = 0
  received = 0
  joined = 0
  !$omp parallel num_threads(tasks + 2)
  !$omp single
  do i = 1, tasks
    !$omp task firstprivate(i) shared(received, status, begun) private(error, request)
    !$omp atomic
    begun = begun + 1
    if (mod(i, 2) == 0) then
      call MPI_RECV(received(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, status(:, i), error)
    else
      call MPI_IRECV(received(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, request, error)
      call MPI_WAIT(request, status(:, i), error)
    end if
    !$omp end task
  end do
  since = MPI_WTIME()
  do
    !$omp atomic read
    i = begun
    if (i == tasks) exit
    if (MPI_WTIME() - since > seconds) then
      print '(a,i0,a,i0,a,i0)', 'held: rank ', rank, ' has begun ', i, ' of ', tasks
      call MPI_ABORT(MPI_COMM_WORLD, 1, error)
    end if
    !$omp taskyield
  end do
  do i = 1, tasks
    !$omp task firstprivate(i) private(error)
    call MPI_SSEND(100 * rank + i, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, error)
    !$omp end task
  end do
  !$omp task shared(joined) private(error)
  call MPI_ALLREDUCE(rank + 1, joined, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  !$omp end task
  !$omp end single
  !$omp end parallel

  right = 0
  do i = 1, tasks
    if (received(i) == 100 * other + i .and. status(MPI_SOURCE, i) == other &
        .and. status(MPI_TAG, i) == i) right = right + 1
  end do
  print '(a,i0,a,i0,a,i0,a,i0)', 'rank ', rank, ': ', right, ' of ', tasks, ' right, sum ', joined
  call MPI_FINALIZE(error)
end program

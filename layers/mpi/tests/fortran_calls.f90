! SPDX-License-Identifier: Apache-2.0
! Each MPI call of Fortran that suspends, on two ranks of one worker. Rank 0 makes it in an OpenMP task; rank 1 waits with
! its part until another task of rank 0 has sent a message. A call that held its worker would keep that task from it, and
! rank 1 says so. What the calls bring is looked at on both ranks. Calls that never wait let no other task run by
! themselves (taskyield does). By module mpi, or by mpi_f08 with -DWEFT_F08: the same cases, whose handles are structures there.
#ifdef WEFT_F08
#define COMM_ type(MPI_Comm)
#define GROUP_ type(MPI_Group)
#define MESSAGE_ type(MPI_Message)
#define REQUEST_ type(MPI_Request)
#define TYPE_ type(MPI_Datatype)
#define WIN_ type(MPI_Win)
#define STATUS_ type(MPI_Status)
#define STATUSES_(n) type(MPI_Status), dimension(n)
#define OF_(statuses, k) statuses(k)
#define ROOM_ type(c_ptr)
#define HANDLER_ type(MPI_Errhandler)
#else
#define COMM_ integer
#define GROUP_ integer
#define MESSAGE_ integer
#define REQUEST_ integer
#define TYPE_ integer
#define WIN_ integer
#define STATUS_ integer, dimension(MPI_STATUS_SIZE)
#define STATUSES_(n) integer, dimension(MPI_STATUS_SIZE, n)
#define OF_(statuses, k) statuses(:, k)
#define ROOM_ integer, dimension(2)
#define HANDLER_ integer
#endif
module cases
#ifdef WEFT_F08
  use mpi_f08
#else
  use mpi
#endif
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer, parameter :: ready_tag = 900, seconds = 30
  integer :: rank, other, wrong = 0
  COMM_ :: comm
  logical :: has_alltoallw ! of neighbours in a grid and in a graph: module mpi_f08 of MPICH 4.0.2 has not, also without Weft
  logical :: is_open_mpi ! MPICH 4.0.2 loses puts of 4 bytes, also without Weft
  logical :: gives_undefined ! as an index: MPICH 4.0.2 does not by module mpi, also without Weft
  integer :: told = 0 ! errors that count_error was told
  COMM_ :: told_of
  integer :: freed = 0
  integer, asynchronous :: large_message(250000)
contains

  subroutine look(is_right, name)
    logical, intent(in) :: is_right
    character(*), intent(in) :: name
    if (is_right) return
    wrong = wrong + 1
    print '(a,i0,2a)', 'wrong: rank ', rank, ': ', name
  end subroutine

  integer function class_of(error)
    integer, intent(in) :: error
    integer :: failed
    call MPI_ERROR_CLASS(error, class_of, failed)
  end function

  ! Is an error handler.
  subroutine count_error(of, error)
    COMM_ :: of
    integer :: error
    told = told + 1
    told_of = of
    call look(class_of(error) == MPI_ERR_TRUNCATE, 'errhandler')
  end subroutine

#ifdef WEFT_MPI_4
  integer(MPI_OFFSET_KIND) function bytes_of(file)
    type(MPI_File), intent(in) :: file
    integer :: error
    call MPI_FILE_GET_SIZE(file, bytes_of, error)
  end function

  ! ---- the functions of a request of the program's own
  subroutine ask_request(extra, status, error)
    integer(MPI_ADDRESS_KIND) :: extra
    STATUS_ :: status
    integer :: error
    call MPI_STATUS_SET_CANCELLED(status, .false., error)
    status%MPI_TAG = int(extra) + 1
    error = MPI_SUCCESS
  end subroutine
  subroutine free_request(extra, error)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: error
    freed = int(extra)
    error = MPI_SUCCESS
  end subroutine
  subroutine cancel_request(extra, is_over, error)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: is_over
    integer :: error
    error = MPI_SUCCESS
  end subroutine
#endif

  ! ---- what a status holds
#ifdef WEFT_F08
  integer function source_of(status)
    STATUS_, intent(in) :: status
    source_of = status%MPI_SOURCE
  end function
  integer function tag_of(status)
    STATUS_, intent(in) :: status
    tag_of = status%MPI_TAG
  end function
  subroutine mark(status)
    STATUS_, intent(inout) :: status
    status%MPI_SOURCE = 77
    status%MPI_TAG = 77
  end subroutine
#else
  integer function source_of(status)
    STATUS_, intent(in) :: status
    source_of = status(MPI_SOURCE)
  end function
  integer function tag_of(status)
    STATUS_, intent(in) :: status
    tag_of = status(MPI_TAG)
  end function
  subroutine mark(status)
    STATUS_, intent(inout) :: status
    status(MPI_SOURCE) = 77
    status(MPI_TAG) = 77
  end subroutine
#endif
  logical function is_marked(status)
    STATUS_, intent(in) :: status
    is_marked = source_of(status) == 77 .and. tag_of(status) == 77
  end function

  ! ---- messages: rank 0 receives, unless the name says otherwise
  subroutine message(name)
    character(*), intent(in) :: name
    integer, asynchronous, target :: got(4)
    integer :: given(4), error, index, count, indices(2), ended, found, bytes
    STATUS_ :: status
    STATUSES_(2) :: statuses
    REQUEST_ :: requests(2), handle
    MESSAGE_ :: matched
    TYPE_ :: type
    HANDLER_ :: handler, before
    integer, asynchronous :: room(400)
    ROOM_ :: given_back
    integer(MPI_ADDRESS_KIND) :: place(1)
    logical :: flag
#ifdef WEFT_MPI_4
    integer, asynchronous, allocatable :: large(:)
    integer(MPI_COUNT_KIND) :: many_bytes
#endif
    given = [1, 2, 3, 4] + 10 * rank
    got = 0
    select case (name)
    case ('recv', 'bottom', 'probe', 'mprobe', 'iprobe', 'improbe', 'irecv', 'test', 'truncated', 'get_status')
      if (rank == 1) then
        call MPI_SEND(given, 4, MPI_INTEGER, 0, 5, comm, error)
        return
      end if
    case ('bsend', 'rsend', 'issend', 'ibsend', 'isend', 'irsend')
      if (rank == 0) then
        call MPI_RECV(got, 4, MPI_INTEGER, 1, 5, comm, status, error)
        call look(all_are(got, [11, 12, 13, 14]) .and. source_of(status) == 1 .and. tag_of(status) == 5, name)
        return
      end if
    end select
    select case (name)
    case ('recv')
      call MPI_RECV(got, 4, MPI_INTEGER, 1, 5, comm, MPI_STATUS_IGNORE, error)
      call look(error == MPI_SUCCESS .and. all_are(got, [11, 12, 13, 14]), name)
    case ('bottom')
      call MPI_GET_ADDRESS(got, place(1), error)
      call MPI_TYPE_CREATE_HINDEXED(1, [4], place, MPI_INTEGER, type, error)
      call MPI_TYPE_COMMIT(type, error)
      call MPI_RECV(MPI_BOTTOM, 1, type, 1, 5, comm, MPI_STATUS_IGNORE, error)
      call look(all_are(got, [11, 12, 13, 14]), name)
      call MPI_TYPE_FREE(type, error)
    case ('probe')
      call MPI_PROBE(MPI_ANY_SOURCE, 5, comm, status, error)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, error)
      call look(count == 4 .and. source_of(status) == 1, name)
      call MPI_RECV(got, 4, MPI_INTEGER, 1, 5, comm, MPI_STATUS_IGNORE, error)
    case ('mprobe')
      call MPI_MPROBE(1, 5, comm, matched, status, error)
      call look(tag_of(status) == 5, name)
      call MPI_MRECV(got, 4, MPI_INTEGER, matched, status, error)
      call look(all_are(got, [11, 12, 13, 14]) .and. matched == MPI_MESSAGE_NULL .and. source_of(status) == 1, 'mrecv')
    case ('iprobe')
      call mark(status) ! a probe that finds nothing leaves it
      call MPI_IPROBE(1, 99, comm, flag, status, error)
      call look(.not. flag .and. (is_marked(status) .or. .not. is_open_mpi), name)
      do while (.not. flag)
        call MPI_IPROBE(1, 5, comm, flag, status, error)
        !$omp taskyield
      end do
      call look(tag_of(status) == 5, name)
      call MPI_RECV(got, 4, MPI_INTEGER, 1, 5, comm, MPI_STATUS_IGNORE, error)
    case ('improbe')
      flag = .false.
      do while (.not. flag)
        call MPI_IMPROBE(1, 5, comm, flag, matched, MPI_STATUS_IGNORE, error)
        !$omp taskyield
      end do
      call MPI_MRECV(got, 4, MPI_INTEGER, matched, MPI_STATUS_IGNORE, error)
      call look(all_are(got, [11, 12, 13, 14]), name)
    case ('irecv')
      call MPI_IRECV(got, 4, MPI_INTEGER, 1, 5, comm, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
      call look(all_are(got, [11, 12, 13, 14]) .and. handle == MPI_REQUEST_NULL, name)
    case ('test')
      call MPI_IRECV(got, 4, MPI_INTEGER, 1, 5, comm, handle, error)
      flag = .false.
      do while (.not. flag)
        call MPI_TEST(handle, flag, status, error)
        !$omp taskyield
      end do
      call look(all_are(got, [11, 12, 13, 14]) .and. handle == MPI_REQUEST_NULL .and. source_of(status) == 1, name)
    case ('get_status')
      call MPI_IRECV(got, 4, MPI_INTEGER, 1, 5, comm, handle, error)
      flag = .false.
      do while (.not. flag)
        call MPI_REQUEST_GET_STATUS(handle, flag, status, error)
        !$omp taskyield
      end do
      call look(handle /= MPI_REQUEST_NULL .and. tag_of(status) == 5, name)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
    case ('truncated')
      call MPI_RECV(got, 2, MPI_INTEGER, 1, 5, comm, status, error)
      call look(class_of(error) == MPI_ERR_TRUNCATE, name)
    case ('bsend')
      call MPI_BUFFER_ATTACH(room, 1600, error)
      call MPI_BSEND(given, 4, MPI_INTEGER, 0, 5, comm, error)
      call MPI_BUFFER_DETACH(given_back, bytes, error)
    case ('ibsend')
      call MPI_BUFFER_ATTACH(room, 1600, error)
      call MPI_IBSEND(given, 4, MPI_INTEGER, 0, 5, comm, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
      call MPI_BUFFER_DETACH(given_back, bytes, error)
    case ('rsend')
      call MPI_RSEND(given, 4, MPI_INTEGER, 0, 5, comm, error)
    case ('irsend')
      call MPI_IRSEND(given, 4, MPI_INTEGER, 0, 5, comm, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
    case ('isend')
      call MPI_ISEND(given, 4, MPI_INTEGER, 0, 5, comm, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
    case ('issend')
      call MPI_ISSEND(given, 4, MPI_INTEGER, 0, 5, comm, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
      call look(handle == MPI_REQUEST_NULL, name)
    case ('ssend')
      if (rank == 0) call MPI_SSEND(given, 4, MPI_INTEGER, 1, 5, comm, error)
      if (rank == 1) then
        call MPI_RECV(got, 4, MPI_INTEGER, 0, 5, comm, MPI_STATUS_IGNORE, error)
        call look(all_are(got, [1, 2, 3, 4]), name)
      end if
    case ('sendrecv')
      call MPI_SENDRECV(given, 4, MPI_INTEGER, other, 5 + rank, got, 4, MPI_INTEGER, other, 5 + other, comm, status, error)
      call look(all_are(got, [1, 2, 3, 4] + 10 * other) .and. tag_of(status) == 5 + other, name)
    case ('sendrecv_replace')
      call MPI_SENDRECV_REPLACE(given, 4, MPI_INTEGER, other, 5, other, 5, comm, MPI_STATUS_IGNORE, error)
      call look(all_are(given, [1, 2, 3, 4] + 10 * other), name)
    case ('errhandler') ! of MPI_COMM_WORLD, for an error there alone
      if (rank == 1) then
        call MPI_SEND(given, 4, MPI_INTEGER, 0, 5, comm, error)
        call MPI_SEND(given, 4, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, error)
        return
      end if
      call MPI_COMM_CREATE_ERRHANDLER(count_error, handler, error)
      call MPI_COMM_GET_ERRHANDLER(MPI_COMM_WORLD, before, error)
      call look(before == MPI_ERRORS_ARE_FATAL, 'comm_get_errhandler')
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, handler, error)
      call MPI_RECV(got, 2, MPI_INTEGER, 1, 5, comm, MPI_STATUS_IGNORE, error)
      call look(class_of(error) == MPI_ERR_TRUNCATE .and. told == 0, name)
      call MPI_RECV(got, 2, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call look(class_of(error) == MPI_ERR_TRUNCATE .and. told == 1 .and. told_of == MPI_COMM_WORLD, name)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, before, error)
      call MPI_ERRHANDLER_FREE(handler, error)
    case ('request_free')
      if (rank == 0) then
        call MPI_ISEND(given, 4, MPI_INTEGER, 1, 5, comm, handle, error)
        call MPI_REQUEST_FREE(handle, error)
        call look(error == MPI_SUCCESS .and. handle == MPI_REQUEST_NULL, name)
        call MPI_RECV(got, 4, MPI_INTEGER, 1, 5, comm, MPI_STATUS_IGNORE, error)
      else
        call MPI_RECV(got, 4, MPI_INTEGER, 0, 5, comm, MPI_STATUS_IGNORE, error)
        call MPI_SEND(given, 4, MPI_INTEGER, 0, 5, comm, error)
      end if
      call look(all_are(got, [1, 2, 3, 4] + 10 * other), name)
#ifdef WEFT_MPI_4
    case ('detach') ! waits until the message has left the buffer
      if (rank == 0) then
        allocate (large(300000))
        call MPI_BUFFER_ATTACH(large, 1200000, error)
        large_message = rank
        call MPI_BSEND(large_message, size(large_message), MPI_INTEGER, 1, 5, comm, error)
        call MPI_BUFFER_DETACH(given_back, bytes, error)
        call look(error == MPI_SUCCESS .and. bytes == 1200000, name)
        call MPI_BUFFER_ATTACH(large, 1200000_MPI_COUNT_KIND, error)
        call MPI_BSEND(large_message, size(large_message), MPI_INTEGER, 1, 5, comm, error)
        call MPI_BUFFER_DETACH(given_back, many_bytes, error)
        call look(error == MPI_SUCCESS .and. many_bytes == 1200000, name)
        deallocate (large)
      else
        do count = 1, 2
          call MPI_RECV(large_message, size(large_message), MPI_INTEGER, 0, 5, comm, MPI_STATUS_IGNORE, error)
        end do
      end if
    case ('some_refused') ! a call that MPI refuses gives no number, and so no index
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
      requests%MPI_VAL = 77
      indices = 5
      found = 100000000
      call MPI_WAITSOME(2, requests, found, indices, MPI_STATUSES_IGNORE, error)
      call look(class_of(error) == MPI_ERR_REQUEST .and. all_are(indices, [5, 5]), name)
      found = 100000000
      call MPI_TESTSOME(2, requests, found, indices, MPI_STATUSES_IGNORE, error)
      call look(class_of(error) == MPI_ERR_REQUEST .and. all_are(indices, [5, 5]), name)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, error)
    case ('grequest') ! the request and its functions
      if (rank == 1) then
        call MPI_SEND(given, 1, MPI_INTEGER, 0, 5, comm, error)
        return
      end if
      call MPI_GREQUEST_START(ask_request, free_request, cancel_request, 33_MPI_ADDRESS_KIND, handle, error)
      call MPI_RECV(got, 1, MPI_INTEGER, 1, 5, comm, MPI_STATUS_IGNORE, error)
      call MPI_GREQUEST_COMPLETE(handle, error)
      call MPI_WAIT(handle, status, error)
      call look(tag_of(status) == 34 .and. freed == 33, name)
#endif
    case ('waitall', 'waitall_ignore', 'waitany', 'waitsome', 'testall', 'testany', 'testsome')
      if (rank == 1) then
        call MPI_SEND(given, 1, MPI_INTEGER, 0, 6, comm, error)
        call MPI_SEND(given(3), 1, MPI_INTEGER, 0, 7, comm, error)
        return
      end if
      call MPI_IRECV(got(1), 1, MPI_INTEGER, 1, 6, comm, requests(1), error)
      call MPI_IRECV(got(2), 1, MPI_INTEGER, 1, 7, comm, requests(2), error)
      ended = 0
      select case (name)
      case ('waitall')
        call MPI_WAITALL(2, requests, statuses, error)
        call look(tag_of(OF_(statuses, 1)) == 6 .and. tag_of(OF_(statuses, 2)) == 7, name)
      case ('waitall_ignore')
        call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, error)
      case ('waitany')
        do found = 1, 2
          call MPI_WAITANY(2, requests, index, status, error)
          call look(tag_of(status) == 5 + index, name)
          ended = ended + index
        end do
        call MPI_WAITANY(2, requests, index, MPI_STATUS_IGNORE, error)
        call look(ended == 3 .and. (index == MPI_UNDEFINED .or. .not. gives_undefined), name)
      case ('waitsome')
        do while (ended < 2)
          call MPI_WAITSOME(2, requests, found, indices, statuses, error)
          call look(found > 0 .and. tag_of(OF_(statuses, 1)) == 5 + indices(1), name)
          ended = ended + found
        end do
        call MPI_WAITSOME(2, requests, found, indices, MPI_STATUSES_IGNORE, error)
        call look(found == MPI_UNDEFINED, name)
      case ('testall')
        flag = .false.
        do while (.not. flag)
          call MPI_TESTALL(2, requests, flag, statuses, error)
          !$omp taskyield
        end do
        call look(tag_of(OF_(statuses, 2)) == 7, name)
      case ('testany')
        do while (ended < 3)
          call MPI_TESTANY(2, requests, index, flag, status, error)
          !$omp taskyield
          if (flag) ended = ended + index
          if (flag) call look(tag_of(status) == 5 + index, name)
        end do
        call MPI_TESTANY(2, requests, index, flag, MPI_STATUS_IGNORE, error)
        call look(flag .and. (index == MPI_UNDEFINED .or. .not. gives_undefined), name)
      case ('testsome')
        do while (ended < 2)
          call MPI_TESTSOME(2, requests, found, indices, statuses, error)
          !$omp taskyield
          if (found > 0) call look(tag_of(OF_(statuses, 1)) == 5 + indices(1), name)
          ended = ended + found
        end do
      end select
      call look(got(1) == 11 .and. got(2) == 13 .and. requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL, name)
    end select
  end subroutine

  logical function all_are(got, expected)
    integer, intent(in) :: got(:), expected(:)
    all_are = all(got == expected)
  end function

  ! ---- collective calls. The root is the rank whose part makes rank 0 wait.
  subroutine collective(name)
    character(*), intent(in) :: name
    integer :: mine(2), got(4), error, sum, both(2)
    COMM_ :: ring, one
    GROUP_ :: group
#ifdef WEFT_MPI_4
    GROUP_ :: mine_alone, others_alone
    type(MPI_File) :: file
#endif
    REQUEST_ :: handle
    TYPE_ :: types(2)
    logical :: is_weighted
    mine = [1, 2] + 10 * rank
    got = -1
    select case (name)
    case ('barrier')
      call MPI_BARRIER(comm, error)
      call look(error == MPI_SUCCESS, name)
#ifdef WEFT_F08
    case ('without_error')
      call MPI_ALLREDUCE(mine, got, 2, MPI_INTEGER, MPI_MAX, comm)
      call MPI_COMM_DUP(comm, ring)
      call MPI_IRECV(got(3), 1, MPI_INTEGER, other, 8, ring, handle)
      call MPI_SEND(mine, 1, MPI_INTEGER, other, 8, ring)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE)
      call MPI_COMM_FREE(ring)
      call look(all_are(got(:3), [11, 12, 1 + 10 * other]) .and. ring == MPI_COMM_NULL, name)
#endif
    case ('bcast')
      call MPI_BCAST(mine, 2, MPI_INTEGER, 1, comm, error)
      call look(all_are(mine, [11, 12]), name)
    case ('reduce')
      call MPI_REDUCE(mine, got, 2, MPI_INTEGER, MPI_SUM, 0, comm, error)
      call look(rank == 1 .or. all_are(got(:2), [12, 14]), name)
    case ('reduce_in_place')
      if (rank == 0) call MPI_REDUCE(MPI_IN_PLACE, mine, 2, MPI_INTEGER, MPI_SUM, 0, comm, error)
      if (rank == 1) call MPI_REDUCE(mine, got, 2, MPI_INTEGER, MPI_SUM, 0, comm, error)
      call look(rank == 1 .or. all_are(mine, [12, 14]), name)
    case ('allreduce')
      call MPI_ALLREDUCE(mine, got, 2, MPI_INTEGER, MPI_MAX, comm, error)
      call look(all_are(got(:2), [11, 12]), name)
    case ('allreduce_in_place')
      call MPI_ALLREDUCE(MPI_IN_PLACE, mine, 2, MPI_INTEGER, MPI_SUM, comm, error)
      call look(all_are(mine, [12, 14]), name)
    case ('scan', 'exscan') ! rank 0 waits for rank 1 in none of the two, so their communicator is the other way round
      call MPI_COMM_SPLIT(comm, 0, -rank, ring, error)
      if (name == 'scan') then
        call MPI_SCAN(mine, got, 2, MPI_INTEGER, MPI_SUM, ring, error)
        if (rank == 0) call look(all_are(got(:2), [12, 14]), name)
        if (rank == 1) call look(all_are(got(:2), [11, 12]), name)
      else
        call MPI_EXSCAN(mine, got, 2, MPI_INTEGER, MPI_SUM, ring, error)
        if (rank == 0) call look(all_are(got(:2), [11, 12]), name)
      end if
      call MPI_COMM_FREE(ring, error)
      call look(ring == MPI_COMM_NULL, 'comm_free')
    case ('reduce_scatter')
      call MPI_REDUCE_SCATTER(mine, got, [1, 1], MPI_INTEGER, MPI_SUM, comm, error)
      call look(got(1) == 12 + 2 * rank, name)
    case ('reduce_scatter_block')
      call MPI_REDUCE_SCATTER_BLOCK(mine, got, 1, MPI_INTEGER, MPI_SUM, comm, error)
      call look(got(1) == 12 + 2 * rank, name)
    case ('gather')
      if (rank == 0) then
        got(:2) = mine
        call MPI_GATHER(MPI_IN_PLACE, 2, MPI_INTEGER, got, 2, MPI_INTEGER, 0, comm, error)
        call look(all_are(got, [1, 2, 11, 12]), name)
      else
        call MPI_GATHER(mine, 2, MPI_INTEGER, got, 2, MPI_INTEGER, 0, comm, error)
      end if
    case ('gatherv')
      call MPI_GATHERV(mine, 1 + rank, MPI_INTEGER, got, [1, 2], [3, 0], MPI_INTEGER, 0, comm, error)
      call look(rank == 1 .or. all_are(got, [11, 12, -1, 1]), name)
    case ('scatter')
      call MPI_SCATTER([1, 2, 3, 4], 2, MPI_INTEGER, got, 2, MPI_INTEGER, 1, comm, error)
      call look(all_are(got(:2), [1, 2] + 2 * rank), name)
    case ('scatterv')
      call MPI_SCATTERV([1, 2, 3, 4], [1, 2], [3, 0], MPI_INTEGER, got, 1 + rank, MPI_INTEGER, 1, comm, error)
      if (rank == 0) call look(got(1) == 4, name)
      if (rank == 1) call look(all_are(got(:2), [1, 2]), name)
    case ('allgather')
      got(1 + 2 * rank:2 + 2 * rank) = mine
      call MPI_ALLGATHER(MPI_IN_PLACE, 2, MPI_INTEGER, got, 2, MPI_INTEGER, comm, error)
      call look(all_are(got, [1, 2, 11, 12]), name)
    case ('allgatherv')
      call MPI_ALLGATHERV(mine, 1 + rank, MPI_INTEGER, got, [1, 2], [3, 0], MPI_INTEGER, comm, error)
      call look(all_are(got, [11, 12, -1, 1]), name)
    case ('alltoall')
      call MPI_ALLTOALL(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, error)
      call look(all_are(got(:2), [1, 11] + rank), name)
    case ('alltoallv')
      call MPI_ALLTOALLV(mine, [1, 1], [1, 0], MPI_INTEGER, got, [1, 1], [3, 0], MPI_INTEGER, comm, error)
      call look(got(4) == 2 - rank .and. got(1) == 12 - rank, name)
    case ('alltoallw', 'alltoallw_in_place')
      types = [MPI_INTEGER, MPI_REAL] ! of the same size: the data have the types of both sides
      if (rank == 1) types = [MPI_REAL, MPI_INTEGER]
      if (name == 'alltoallw') then
        call MPI_ALLTOALLW(mine, [1, 1], [0, 4], types, got, [1, 1], [4, 0], types, comm, error)
        call look(got(2) == 1 + rank .and. got(1) == 11 + rank, name)
      else
        call MPI_ALLTOALLW(MPI_IN_PLACE, [1, 1], [0, 4], types, mine, [1, 1], [0, 4], types, comm, error)
        call look(all_are(mine, [1, 11] + rank), name)
      end if
    case ('neighbors')
      call MPI_CART_CREATE(comm, 1, [2], [.true.], .false., ring, error)
      call MPI_NEIGHBOR_ALLGATHER(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, error)
      call look(all_are(got(:2), [1, 1] + 10 * other), 'neighbor_allgather')
      got = -1
      call MPI_NEIGHBOR_ALLGATHERV(mine, 1, MPI_INTEGER, got, [1, 1], [3, 0], MPI_INTEGER, ring, error)
      call look(got(4) == 1 + 10 * other .and. got(1) == 1 + 10 * other .and. got(2) == -1, 'neighbor_allgatherv')
      call MPI_NEIGHBOR_ALLTOALL(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, error)
      call look(got(1) + got(2) == 3 + 20 * other, 'neighbor_alltoall')
      got = -1
      call MPI_NEIGHBOR_ALLTOALLV(mine, [1, 1], [0, 1], MPI_INTEGER, got, [1, 1], [3, 0], MPI_INTEGER, ring, error)
      call look(got(1) + got(4) == 3 + 20 * other .and. got(2) == -1, 'neighbor_alltoallv')
      if (has_alltoallw) then
        got = -1
        call MPI_NEIGHBOR_ALLTOALLW(mine, [1, 1], [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], got, &
          [1, 1], [12_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], ring, error)
        call look(got(1) + got(4) == 3 + 20 * other .and. got(2) == -1, 'neighbor_alltoallw')
      end if
      call MPI_CART_SUB(ring, [.true.], one, error)
      call MPI_ALLREDUCE(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, one, error)
      call look(sum == 3, 'cart_sub')
      call MPI_COMM_FREE(one, error)
      call MPI_COMM_DISCONNECT(ring, error)
      call look(ring == MPI_COMM_NULL, 'comm_disconnect')
    case ('graphs')
      call MPI_GRAPH_CREATE(comm, 2, [1, 2], [1, 0], .false., ring, error)
      if (has_alltoallw) call swap_by_types(ring, 'graph_create')
      if (.not. has_alltoallw) call is_whole(ring, 'graph_create')
      call MPI_DIST_GRAPH_CREATE(comm, 1, [rank], [1], [other], [5], MPI_INFO_NULL, .false., ring, error)
      call swap_by_types(ring, 'dist_graph_create')
      call MPI_DIST_GRAPH_CREATE(comm, 1, [rank], [1], [other], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, error)
      call MPI_DIST_GRAPH_NEIGHBORS_COUNT(ring, both(1), both(2), is_weighted, error)
      call look(.not. is_weighted .and. all_are(both, [1, 1]), 'unweighted')
      call swap_by_types(ring, 'dist_graph_create, unweighted')
      call MPI_DIST_GRAPH_CREATE_ADJACENT(comm, 1, [other], [5], 1, [other], [6], MPI_INFO_NULL, .false., ring, error)
      call swap_by_types(ring, 'dist_graph_create_adjacent')
      if (rank == 0) call MPI_DIST_GRAPH_CREATE_ADJACENT(comm, 0, both, MPI_WEIGHTS_EMPTY, 1, [1], [6], &
        MPI_INFO_NULL, .false., ring, error)
      if (rank == 1) call MPI_DIST_GRAPH_CREATE_ADJACENT(comm, 1, [0], [6], 0, both, MPI_WEIGHTS_EMPTY, &
        MPI_INFO_NULL, .false., ring, error)
      call MPI_DIST_GRAPH_NEIGHBORS_COUNT(ring, both(1), both(2), is_weighted, error)
      call look(is_weighted .and. all_are(both, [rank, other]), 'weights_empty')
      call MPI_COMM_FREE(ring, error)
    case ('comm_dup')
      call MPI_COMM_DUP(comm, ring, error)
      call is_whole(ring, name)
      call MPI_COMM_DUP_WITH_INFO(comm, MPI_INFO_NULL, ring, error)
      call is_whole(ring, 'comm_dup_with_info')
      call MPI_COMM_IDUP(comm, ring, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
      call is_whole(ring, 'comm_idup')
#ifdef WEFT_MPI_4
      call MPI_COMM_IDUP_WITH_INFO(comm, MPI_INFO_NULL, ring, handle, error)
      call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
      call is_whole(ring, 'comm_idup_with_info')
    case ('comm_from_group')
      call MPI_COMM_GROUP(comm, group, error)
      if (rank == 0) call MPI_COMM_CREATE_FROM_GROUP(group, 'a name', MPI_INFO_NULL, MPI_ERRORS_RETURN, ring, error)
      if (rank == 1) call MPI_COMM_CREATE_FROM_GROUP(group, 'a name  ', MPI_INFO_NULL, MPI_ERRORS_RETURN, ring, error)
      call is_whole(ring, name)
      call MPI_GROUP_INCL(group, 1, [rank], mine_alone, error)
      call MPI_GROUP_INCL(group, 1, [other], others_alone, error)
      call MPI_INTERCOMM_CREATE_FROM_GROUPS(mine_alone, 0, others_alone, 0, 'another name', MPI_INFO_NULL, &
        MPI_ERRORS_RETURN, one, error)
      call MPI_COMM_REMOTE_SIZE(one, sum, error)
      call look(sum == 1, 'intercomm_from_groups')
      call MPI_COMM_FREE(one, error)
      call MPI_GROUP_FREE(mine_alone, error)
      call MPI_GROUP_FREE(others_alone, error)
      call MPI_GROUP_FREE(group, error)
    case ('files')
      call MPI_FILE_OPEN(comm, 'weft_fortran_files', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
      call look(error == MPI_SUCCESS .and. file /= MPI_FILE_NULL, name)
      call MPI_FILE_SET_SIZE(file, 100_MPI_OFFSET_KIND, error)
      call look(error == MPI_SUCCESS .and. bytes_of(file) == 100, 'file_set_size')
      call MPI_FILE_PREALLOCATE(file, 200_MPI_OFFSET_KIND, error)
      call look(error == MPI_SUCCESS .and. bytes_of(file) == 200, 'file_preallocate')
      call MPI_FILE_SET_VIEW(file, 4_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native  ', MPI_INFO_NULL, error)
      call look(error == MPI_SUCCESS, 'file_set_view')
      call MPI_FILE_WRITE_AT_ALL(file, 2_MPI_OFFSET_KIND * rank, mine, 2, MPI_INTEGER, MPI_STATUS_IGNORE, error)
      call look(error == MPI_SUCCESS, 'file_write_at_all')
      call MPI_FILE_SYNC(file, error)
      call look(error == MPI_SUCCESS, 'file_sync')
      call MPI_BARRIER(comm, error)
      call MPI_FILE_READ_AT(file, 0_MPI_OFFSET_KIND, got, 4, MPI_INTEGER, MPI_STATUS_IGNORE, error)
      call look(all_are(got, [1, 2, 11, 12]), 'file_read_at')
      call MPI_FILE_SEEK_SHARED(file, 2_MPI_OFFSET_KIND, MPI_SEEK_SET, error)
      call MPI_FILE_READ_ORDERED(file, both, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
      call look(both(1) == 11 + rank, 'file_seek_shared')
      call MPI_FILE_CLOSE(file, error)
      call look(error == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'file_close')
      call MPI_BARRIER(comm, error)
      if (rank == 0) call MPI_FILE_DELETE('weft_fortran_files ', MPI_INFO_NULL, error)
      call look(error == MPI_SUCCESS, 'file_delete')
      call MPI_BARRIER(comm, error)
      call MPI_FILE_OPEN(comm, 'weft_fortran_files', MPI_MODE_RDONLY, MPI_INFO_NULL, file, error)
      call look(class_of(error) == MPI_ERR_NO_SUCH_FILE, 'file_open of none')
    case ('barrier_init')
      call MPI_BARRIER_INIT(comm, MPI_INFO_NULL, handle, error)
      do sum = 1, 2
        call MPI_START(handle, error)
        call MPI_WAIT(handle, MPI_STATUS_IGNORE, error)
        call look(error == MPI_SUCCESS .and. handle /= MPI_REQUEST_NULL, name)
      end do
      call MPI_REQUEST_FREE(handle, error)
#endif
    case ('comm_create')
      call MPI_COMM_GROUP(comm, group, error)
      call MPI_COMM_CREATE(comm, group, ring, error)
      call is_whole(ring, name)
      call MPI_COMM_CREATE_GROUP(comm, group, 3, ring, error)
      call is_whole(ring, 'comm_create_group')
      call MPI_COMM_SPLIT_TYPE(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, ring, error)
      call is_whole(ring, 'comm_split_type')
      call MPI_GROUP_FREE(group, error)
    case ('intercomm')
      call MPI_INTERCOMM_CREATE(MPI_COMM_SELF, 0, comm, other, 3, one, error)
      call MPI_ALLTOALLW(mine, [2], [0], [MPI_INTEGER], both, [2], [0], [MPI_INTEGER], one, error)
      call look(all_are(both, [1, 2] + 10 * other), 'alltoallw of an intercommunicator')
      call MPI_INTERCOMM_MERGE(one, rank == 0, ring, error)
      call MPI_COMM_RANK(ring, sum, error)
      call look(sum == other, 'intercomm_merge')
      call is_whole(ring, name)
      call MPI_COMM_FREE(one, error)
    end select
  end subroutine

  ! Sends the other rank, the only neighbour, one number, and frees the communicator.
  subroutine swap_by_types(made, name)
    COMM_, intent(inout) :: made
    character(*), intent(in) :: name
    integer :: mine(2), got(2), error
    mine = [1, 2] + 10 * rank
    got = -1
    call MPI_NEIGHBOR_ALLTOALLW(mine, [1], [4_MPI_ADDRESS_KIND], [MPI_INTEGER], got, [1], [0_MPI_ADDRESS_KIND], &
      [MPI_INTEGER], made, error)
    call look(error == MPI_SUCCESS .and. all_are(got, [2 + 10 * other, -1]), name)
    call MPI_COMM_FREE(made, error)
  end subroutine

  subroutine is_whole(made, name)
    COMM_, intent(inout) :: made
    character(*), intent(in) :: name
    integer :: ranks, error
    call MPI_COMM_SIZE(made, ranks, error)
    call look(ranks == 2, name)
    call MPI_COMM_FREE(made, error)
  end subroutine

  ! ---- windows: what one rank puts, the other one has after the synchronization
  subroutine window(name)
    character(*), intent(in) :: name
    integer, asynchronous, target :: own(2)
    integer, asynchronous, pointer :: memory(:)
    type(c_ptr) :: base
    integer :: error, mine(1), failed
    WIN_ :: win
    GROUP_ :: group, peers
    logical :: flag
    integer(MPI_ADDRESS_KIND), parameter :: bytes = 8, place = 1, unit = 4
    mine = 7 + rank
    ! Open MPI 4.1 has no windows but those of MPI_WIN_ALLOCATE where the kernel forbids it to copy between processes.
    if (name == 'win_create_dynamic') then
      call MPI_WIN_CREATE_DYNAMIC(MPI_INFO_NULL, comm, win, error)
      call look(error == MPI_SUCCESS .or. is_open_mpi, name)
      if (error /= MPI_SUCCESS) return
      call MPI_WIN_FREE(win, error)
      call look(win == MPI_WIN_NULL, 'win_free')
      return
    end if
    if (name(:12) == 'win_allocate') then
      select case (name)
      case ('win_allocate')
        call MPI_WIN_ALLOCATE(bytes, 4, MPI_INFO_NULL, comm, base, win, error)
      case ('win_allocate_shared')
        call MPI_WIN_ALLOCATE_SHARED(bytes, 4, MPI_INFO_NULL, comm, base, win, error)
#ifdef WEFT_MPI_4
      case ('win_allocate_large')
        call MPI_WIN_ALLOCATE(bytes, unit, MPI_INFO_NULL, comm, base, win, error)
      case ('win_allocate_large_shared')
        call MPI_WIN_ALLOCATE_SHARED(bytes, unit, MPI_INFO_NULL, comm, base, win, error)
#endif
      end select
      call look(error == MPI_SUCCESS, name)
      call c_f_pointer(base, memory, [2])
      memory = rank
      call MPI_BARRIER(comm, error)
      call look(all_are(memory, [rank, rank]), name)
      call MPI_WIN_FREE(win, error)
      call look(win == MPI_WIN_NULL, 'win_free')
      return
    end if
    if (is_open_mpi) then
      call MPI_WIN_ALLOCATE(bytes, 4, MPI_INFO_NULL, comm, base, win, error)
      call c_f_pointer(base, memory, [2])
    else
      memory => own
      call MPI_WIN_CREATE(own, bytes, 4, MPI_INFO_NULL, comm, win, error)
    end if
    call look(error == MPI_SUCCESS, name)
    memory = -1
    call MPI_BARRIER(comm, error)
    call MPI_COMM_GROUP(comm, group, error)
    call MPI_GROUP_INCL(group, 1, [other], peers, error)
    failed = 0
    select case (name)
    case ('win_fence')
      call MPI_WIN_FENCE(0, win, error)
      call count_failure
      call put
      call MPI_WIN_FENCE(0, win, error)
      call count_failure
    case ('win_start')
      call MPI_WIN_POST(peers, 0, win, error)
      call count_failure
      call MPI_WIN_START(peers, 0, win, error)
      call count_failure
      call put
      call MPI_WIN_COMPLETE(win, error)
      call count_failure
      if (rank == 0) call MPI_WIN_WAIT(win, error)
      call count_failure
      flag = rank == 0
      do while (.not. flag)
        call MPI_WIN_TEST(win, flag, error)
        !$omp taskyield
      end do
    case ('win_lock')
      call MPI_WIN_LOCK(MPI_LOCK_SHARED, other, 0, win, error)
      call count_failure
      call put
      call MPI_WIN_FLUSH_LOCAL(other, win, error)
      call count_failure
      call MPI_WIN_FLUSH(other, win, error)
      call count_failure
      call MPI_WIN_UNLOCK(other, win, error)
      call count_failure
      call MPI_BARRIER(comm, error)
    case ('win_lock_all')
      call MPI_WIN_LOCK_ALL(0, win, error)
      call count_failure
      call put
      call MPI_WIN_FLUSH_LOCAL_ALL(win, error)
      call count_failure
      call MPI_WIN_FLUSH_ALL(win, error)
      call count_failure
      call MPI_WIN_UNLOCK_ALL(win, error)
      call count_failure
      call MPI_BARRIER(comm, error)
    end select
    call look(failed == 0, name)
    if (is_open_mpi) call look(memory(1) == -1 .and. memory(2) == 7 + other, name)
    call MPI_WIN_FREE(win, error)
    call look(win == MPI_WIN_NULL, 'win_free')
    call MPI_GROUP_FREE(peers, error)
    call MPI_GROUP_FREE(group, error)
  contains
    subroutine put
      call MPI_PUT(mine, 1, MPI_INTEGER, other, place, 1, MPI_INTEGER, win, error)
      call count_failure
    end subroutine
    subroutine count_failure
      if (error /= MPI_SUCCESS) failed = failed + 1
    end subroutine
  end subroutine

  subroutine run_one(name)
    character(*), intent(in) :: name
    if (name(1:3) == 'win') then
      call window(name)
    else if (name(1:1) == '*') then
      call collective(name(2:))
    else
      call message(name)
    end if
  end subroutine
end module

program fortran_calls
  use cases
  implicit none
  character(26), parameter :: names(*) = [character(26) :: &
    'recv', 'bottom', 'probe', 'mprobe', 'iprobe', 'improbe', 'irecv', 'test', 'get_status', 'truncated', &
    'bsend', 'ibsend', 'rsend', 'irsend', 'isend', 'issend', 'ssend', 'sendrecv', 'sendrecv_replace', &
    'waitall', 'waitall_ignore', 'waitany', 'waitsome', 'testall', 'testany', 'testsome', &
#ifdef WEFT_F08
    '*without_error', &
#endif
#ifdef WEFT_MPI_4
    'some_refused', 'detach', 'grequest', '*comm_from_group', '*barrier_init', '*files', &
    'win_allocate_large', 'win_allocate_large_shared', &
#endif
    'errhandler', 'request_free', 'win_allocate', 'win_allocate_shared', &
    '*barrier', '*bcast', '*reduce', '*reduce_in_place', '*allreduce', '*allreduce_in_place', '*scan', '*exscan', &
    '*reduce_scatter', '*reduce_scatter_block', '*gather', '*gatherv', '*scatter', '*scatterv', '*allgather', '*allgatherv', &
    '*alltoall', '*alltoallv', '*alltoallw', '*alltoallw_in_place', '*neighbors', '*graphs', &
    '*comm_dup', '*comm_create', '*intercomm', &
    'win_fence', 'win_start', 'win_lock', 'win_lock_all', 'win_create_dynamic']
  integer :: level, error, k, has_begun, seen, go, length
  character(MPI_MAX_LIBRARY_VERSION_STRING) :: library
  logical :: flag
  double precision :: since
  character(26) :: only ! for work on one case by hand

  call get_command_argument(1, only)
  call MPI_INIT_THREAD(MPI_THREAD_MULTIPLE, level, error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  call MPI_GET_LIBRARY_VERSION(library, length, error)
  is_open_mpi = index(library, 'Open MPI') /= 0
#ifdef WEFT_F08
  has_alltoallw = is_open_mpi
  gives_undefined = .true.
#else
  has_alltoallw = .true.
  gives_undefined = is_open_mpi
#endif
  call MPI_COMM_DUP(MPI_COMM_WORLD, comm, error) ! the messages of the tasks below go by the other one
  call MPI_COMM_SET_ERRHANDLER(comm, MPI_ERRORS_RETURN, error)
  other = 1 - rank
  !$omp parallel num_threads(4)
  !$omp single
  do k = 1, size(names)
    if (only /= '' .and. only /= names(k)) cycle
    if (rank == 0) then
      has_begun = 0
      !$omp task firstprivate(k) shared(has_begun)
      !$omp atomic write
      has_begun = 1
      call run_one(trim(names(k)))
      !$omp end task
      do
        !$omp atomic read
        seen = has_begun
        if (seen == 1) exit
        !$omp taskyield
      end do
      !$omp task firstprivate(k) private(error)
      call MPI_SEND(k, 1, MPI_INTEGER, 1, ready_tag, MPI_COMM_WORLD, error)
      !$omp end task
    else
      since = MPI_WTIME()
      flag = .false.
      do while (.not. flag)
        call MPI_IPROBE(0, ready_tag, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, error)
        if (MPI_WTIME() - since > seconds) then
          print '(2a)', 'held its worker: ', trim(names(k))
          call MPI_ABORT(MPI_COMM_WORLD, 1, error)
        end if
      end do
      call MPI_RECV(go, 1, MPI_INTEGER, 0, ready_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      !$omp task firstprivate(k)
      call run_one(trim(names(k)))
      !$omp end task
    end if
    !$omp taskwait
  end do
  !$omp end single
  !$omp end parallel
  print '(a,i0,a,i0,a,i0,a)', 'rank ', rank, ': ', size(names), ' cases, ', wrong, ' wrong'
  call MPI_COMM_FREE(comm, error)
  call MPI_FINALIZE(error)
end program

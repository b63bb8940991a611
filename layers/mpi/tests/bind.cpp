// SPDX-License-Identifier: Apache-2.0
// Requests that are bound to tasks, errors, one-sided communication, and the polling service.
#include "ranks.hpp"

#include <weft/layer/task.hpp>
#include <weft/mpi.h>
#include <weft/mpi.hpp>

#include <string>
#include <vector>

using namespace ranks;

namespace {

/// Binds a receive: the task's successor runs when the message is there, and not before.
void bind() {
  int x = 0;
  MPI_Status status;
  std::atomic<bool> may_come{false};
  suspends(
      [&] {
        weft::spawn(
            [&] {
              MPI_Request r;
              MPI_Irecv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &r);
              weft::mpi::bind(r, &status);
              CHECK(r == MPI_REQUEST_NULL);
            },
            weft::out(x));
        weft::spawn(
            [&] {
              CHECK(may_come && x == 11);
              int n = 0;
              MPI_Get_count(&status, MPI_INT, &n);
              CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 1 && n == 1);
              CHECK(status.MPI_ERROR == MPI_SUCCESS);
            },
            weft::in(x));
        may_come = true;
        MPI_Send(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
        weft::taskwait();
      },
      [] {
        if (rank != 1)
          return;
        const int sent = 11;
        PMPI_Recv(nullptr, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        PMPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
      });
}

/// Has thousands of bound requests in flight, sent from the last to the first.
void bindall() {
  constexpr int n = 4000, per_task = 100;
  std::vector<int> x(n, -1);
  std::vector<MPI_Status> status(n);
  if (rank == 0) {
    for (int first = 0; first < n; first += per_task)
      weft::spawn([&, first] {
        std::vector<MPI_Request> r(per_task);
        for (int i = 0; i < per_task; ++i)
          MPI_Irecv(&x[static_cast<std::size_t>(first + i)], 1, MPI_INT, 1, first + i,
                    MPI_COMM_WORLD, &r[static_cast<std::size_t>(i)]);
        weft::mpi::bindall(r, &status[static_cast<std::size_t>(first)]);
        for (const MPI_Request &one : r)
          CHECK(one == MPI_REQUEST_NULL);
      });
    weft::spawn([] { MPI_Send(nullptr, 0, MPI_INT, 1, n, MPI_COMM_WORLD); });
    weft::taskwait();
    for (int i = 0; i < n; ++i)
      CHECK(x[static_cast<std::size_t>(i)] == i &&
            status[static_cast<std::size_t>(i)].MPI_TAG == i);
  } else if (rank == 1) {
    PMPI_Recv(nullptr, 0, MPI_INT, 0, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = n; i-- > 0;)
      PMPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
  }
}

void bind_in_c() {
  int x = 0;
  if (rank == 0) {
    weft::spawn([&] {
      MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MPI_Irecv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, r);
      CHECK(weft_mpi_bindall(2, r, MPI_STATUSES_IGNORE) == WEFT_OK);
      CHECK(r[0] == MPI_REQUEST_NULL);
      CHECK(weft_mpi_bind(r, MPI_STATUS_IGNORE) == WEFT_OK);
      CHECK(weft_mpi_bind(nullptr, MPI_STATUS_IGNORE) == WEFT_ERR_INVALID_ARGUMENT);
      CHECK(weft_mpi_bindall(-1, r, MPI_STATUSES_IGNORE) == WEFT_ERR_INVALID_ARGUMENT);
    });
    weft::taskwait();
    CHECK(x == 31);
  } else if (rank == 1) {
    x = 31;
    PMPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  }
  MPI_Request none = MPI_REQUEST_NULL;
  CHECK(weft_mpi_bind(&none, MPI_STATUS_IGNORE) == WEFT_ERR_NOT_A_TASK);
  try {
    weft::mpi::bind(none);
    CHECK(!"a thread has bound a request");
  } catch (const weft::error &e) {
    CHECK(e.code() == weft::errc::not_a_task);
    CHECK(std::string(e.what()).find("weft::mpi::bind") != std::string::npos);
  }
}

void bind_persistent() {
  int x = 0;
  MPI_Request r = MPI_REQUEST_NULL;
  if (rank == 0)
    MPI_Recv_init(&x, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &r);
  for (int round = 0; round < 20; ++round) {
    if (rank == 0) {
      weft::spawn(
          [&] {
            MPI_Start(&r);
            weft::mpi::bind(r);
            CHECK(r != MPI_REQUEST_NULL);
          },
          weft::out(x));
      weft::spawn([&x, round] { CHECK(x == round); }, weft::inout(x));
    } else if (rank == 1) {
      PMPI_Send(&round, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
  }
  weft::taskwait();
  if (rank == 0)
    MPI_Request_free(&r);
}

/// Binds non-blocking collective calls.
void bind_collective() {
  int sum = 0, x = rank + 1;
  MPI_Request first = MPI_REQUEST_NULL;
  weft::spawn(
      [&] {
        MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &first);
        weft::mpi::bind(first);
      },
      weft::in(x), weft::out(sum));
  weft::spawn(
      [&] {
        CHECK(sum == size * (size + 1) / 2);
        MPI_Request r;
        MPI_Ibcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &r);
        weft::mpi::bind(r);
      },
      weft::inout(sum));
  weft::taskwait();
}

std::atomic<int> told{0}, told_code{0}, told_self{0};
void note(MPI_Comm *, int *code, ...) {
  ++told;
  int found = 0;
  MPI_Error_class(*code, &found);
  told_code = found;
  told_self = weft::layer::running_task() ? 1 : 0;
}

int class_of(int code) {
  int found = -1;
  MPI_Error_class(code, &found);
  return found;
}

/// Sends two numbers to receives of one, on `comm`.
void too_long(MPI_Comm comm, int tag, int times) {
  const int x[2] = {1, 2};
  for (int i = 0; rank == 1 && i < times; ++i)
    PMPI_Send(x, 2, MPI_INT, 0, tag, comm);
}

/// Lets a receive of a task fail: MPI_ERRORS_RETURN and a function of the user, on a communicator of
/// their own, while that of MPI_COMM_WORLD ends the job.
void errors() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler now, function;
  MPI_Comm_get_errhandler(comm, &now);
  CHECK(now == MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  suspends(
      [&] {
        int x = 0;
        MPI_Status status;
        CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, 1, 5, comm, &status)) == MPI_ERR_TRUNCATE);
        CHECK(class_of(MPI_Send(&x, 1, MPI_INT, size, 5, comm)) == MPI_ERR_RANK);
      },
      [&] { too_long(comm, 5, 1); });
  MPI_Comm_create_errhandler(&note, &function);
  MPI_Comm_set_errhandler(comm, function);
  MPI_Comm_get_errhandler(comm, &now);
  CHECK(now == function);
  suspends(
      [&] {
        int x = 0;
        told = 0;
        CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE)) ==
              MPI_ERR_TRUNCATE);
        CHECK(told == 1 && told_code == MPI_ERR_TRUNCATE && told_self == 1);
      },
      [&] { too_long(comm, 6, 1); });
  MPI_Comm_free(&comm);

  // Waits: MPICH tells the handler of MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  suspends(
      [&] {
        int x[2] = {};
        MPI_Request r[2];
        MPI_Status status[2];
        for (int i = 0; i < 2; ++i)
          MPI_Irecv(x + i, 1, MPI_INT, 1, 7 + i, MPI_COMM_WORLD, r + i);
        CHECK(class_of(MPI_Wait(r, status)) == MPI_ERR_TRUNCATE);
        MPI_Irecv(x, 2, MPI_INT, 1, 9, MPI_COMM_WORLD, r);
        CHECK(MPI_Waitall(2, r, status) == MPI_ERR_IN_STATUS);
        CHECK(status[0].MPI_ERROR == MPI_SUCCESS && x[0] == 1 && x[1] == 2);
        CHECK(class_of(status[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
      },
      [&] {
        too_long(MPI_COMM_WORLD, 7, 1);
        too_long(MPI_COMM_WORLD, 9, 1);
        too_long(MPI_COMM_WORLD, 8, 1);
      });

  // A bound request that fails: in its status, or as the failure of the task.
  MPI_Status status;
  suspends(
      [&] {
        int x = 0, y = 0;
        weft::spawn([&] {
          MPI_Request r;
          MPI_Irecv(&x, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r);
          weft::mpi::bind(r, &status);
        });
        weft::taskwait();
        CHECK(class_of(status.MPI_ERROR) == MPI_ERR_TRUNCATE);
        weft::spawn([&] {
          MPI_Request r;
          MPI_Irecv(&y, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r);
          weft::mpi::bind(r);
        });
        try {
          weft::taskwait();
          CHECK(!"the task has not failed");
        } catch (const weft::mpi::error &e) {
          CHECK(class_of(e.code()) == MPI_ERR_TRUNCATE);
        }
      },
      [&] {
        too_long(MPI_COMM_WORLD, 10, 1);
        too_long(MPI_COMM_WORLD, 11, 1);
      });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
  CHECK(now == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&function);
}

constexpr int k_cells = 64;

/// Makes a window. MPICH 4.0.2 loses puts to memory that MPI_Win_allocate has made, and Open MPI 4.1
/// has no window on other memory for ranks of one machine where the kernel lets no process copy from
/// another one.
int make_window(std::vector<int> &memory, int **cells, MPI_Win *win) {
  const MPI_Aint bytes = k_cells * sizeof(int);
#if defined(MPICH)
  memory.assign(k_cells, -1);
  *cells = memory.data();
  return MPI_Win_create(memory.data(), bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, win);
#else
  const int error = MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, cells, win);
  for (int i = 0; error == MPI_SUCCESS && i < k_cells; ++i)
    (*cells)[i] = -1;
  memory.clear();
  return error;
#endif
}

/// One-sided communication with its coarse synchronizations, each in a task.
void windows() {
  std::vector<int> own;
  int *cells = nullptr;
  MPI_Win win;
  const auto all = [](auto &&body) { suspends(body, body); };
  all([&] { CHECK(make_window(own, &cells, &win) == MPI_SUCCESS); });
  all([&] { CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS); });
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  all([&] { MPI_Put(&rank, 1, MPI_INT, right, rank, 1, MPI_INT, win); });
  all([&] { CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS); });
  CHECK(cells[left] == left);
  all([&] { CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win) == MPI_SUCCESS); });
  // Passive targets.
  int got = -1;
  weft::spawn([&] {
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win) == MPI_SUCCESS);
    MPI_Get(&got, 1, MPI_INT, right, rank, 1, MPI_INT, win);
    CHECK(MPI_Win_flush(right, win) == MPI_SUCCESS);
    CHECK(got == rank);
    CHECK(MPI_Win_unlock(right, win) == MPI_SUCCESS);
    CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS);
    got = -1;
    MPI_Request r;
    MPI_Rget(&got, 1, MPI_INT, right, rank, 1, MPI_INT, win, &r);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == rank);
    CHECK(MPI_Win_flush_local_all(win) == MPI_SUCCESS);
    CHECK(MPI_Win_flush_all(win) == MPI_SUCCESS);
    CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS);
  });
  weft::taskwait();
  PMPI_Barrier(MPI_COMM_WORLD);
  // General active targets, between ranks 0 and 1.
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int peer = 1 - rank;
  if (rank < 2)
    MPI_Group_incl(world, 1, &peer, &other);
  suspends(
      [&] {
        MPI_Win_post(other, 0, win);
        CHECK(MPI_Win_wait(win) == MPI_SUCCESS);
        CHECK(cells[0] == 77);
      },
      [&] {
        if (rank != 1)
          return;
        const int x = 77;
        weft::spawn([&] {
          CHECK(MPI_Win_start(other, 0, win) == MPI_SUCCESS);
          MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
          CHECK(MPI_Win_complete(win) == MPI_SUCCESS);
        });
        weft::taskwait();
      });
  if (rank < 2)
    MPI_Group_free(&other);
  MPI_Group_free(&world);
  all([&] { CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL); });
}

/// Binds a put with a request: its origin may be written again by the task's successor.
void bind_put() {
  std::vector<int> own;
  int *cells = nullptr;
  MPI_Win win;
  make_window(own, &cells, &win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  int x = rank;
  weft::spawn(
      [&] {
        MPI_Request r;
        MPI_Rput(&x, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win, &r);
        weft::mpi::bind(r);
      },
      weft::in(x));
  weft::spawn([&] { x = -5; }, weft::out(x));
  weft::taskwait();
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK(cells[0] == (rank + size - 1) % size);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

#if MPI_VERSION >= 4
/// Makes windows and a communicator by the calls that MPI-4 has added, each in a task.
void calls_of_mpi_4() {
  const auto all = [](auto &&body) { suspends(body, body); };
  int own = 0, *cells = nullptr;
  MPI_Win win;
  const MPI_Comm world = MPI_COMM_WORLD;
  const auto free_it = [&] { CHECK(MPI_Win_free(&win) == MPI_SUCCESS); };
  all([&] {
    CHECK(MPI_Win_create_c(&own, sizeof own, 1, MPI_INFO_NULL, world, &win) == MPI_SUCCESS);
  });
  all(free_it);
  all([&] {
    CHECK(MPI_Win_allocate_c(sizeof own, 1, MPI_INFO_NULL, world, &cells, &win) == MPI_SUCCESS);
  });
  all(free_it);
  all([&] {
    CHECK(MPI_Win_allocate_shared_c(sizeof own, 1, MPI_INFO_NULL, world, &cells, &win) ==
          MPI_SUCCESS);
  });
  *cells = 5;
  all(free_it);
  std::vector<char> room(1 << 16);
  MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
  void *given = nullptr;
  MPI_Count bytes = 0;
  weft::spawn([&] { CHECK(MPI_Buffer_detach_c(&given, &bytes) == MPI_SUCCESS); });
  weft::taskwait();
  CHECK(given == room.data() && bytes == static_cast<MPI_Count>(room.size()));
}
#endif

constexpr test k_tests[] = {
#if MPI_VERSION >= 4
    {"calls_of_mpi_4", 2, &calls_of_mpi_4},
#endif
    {"bind", 2, &bind},
    {"bindall", 2, &bindall},
    {"bind_in_c", 2, &bind_in_c},
    {"bind_persistent", 2, &bind_persistent},
    {"bind_collective", 2, &bind_collective},
    {"errors", 2, &errors},
    {"windows", 2, &windows},
    {"bind_put", 2, &bind_put},
};

} // namespace

int main(int argc, char **argv) { return run(k_tests, argc, argv); }

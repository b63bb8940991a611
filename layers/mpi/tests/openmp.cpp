// SPDX-License-Identifier: Apache-2.0
// Calls of MPI in OpenMP tasks, on two ranks: what they leave of the task to the program and to OpenMP.
#include "ranks.hpp"
#include "service_spy.hpp"
#include "support/listener.hpp"

#include <weft/layer/task_source.hpp>
#include <weft/mpi.hpp>

#include <omp.h>
#include <sched.h>
#include <unistd.h>

using namespace ranks;

namespace {

weft::layer::task_source &openmp() { return *weft::layer::offered_tasks(); }

/// Lets rank 1 send `count` messages, each when rank 0 has asked for it.
void answer(int tag, int count) {
  for (int i = 0; i < count; ++i) {
    PMPI_Recv(nullptr, 0, MPI_INT, 0, k_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Send(&i, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  }
}
int receive(int tag) {
  int x = -1;
  MPI_Request r;
  MPI_Irecv(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &r);
  PMPI_Send(nullptr, 0, MPI_INT, 1, k_go, MPI_COMM_WORLD);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  return x;
}

/// Runs a body as an OpenMP task of rank 0, on a thread of a team.
template <class Body>
void in_task(Body body) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task shared(body)
    body();
  }
}

/// An unblock that comes before a call of MPI, or during it, is for the task's next block. No call leaves one behind.
void tokens_of_the_user() {
  constexpr int k_tag = 1, k_rounds = 500;
  if (rank == 1)
    answer(k_tag, 2 * k_rounds);
  if (rank != 0)
    return;
  in_task([] {
    void *const task = openmp().running();
    for (int i = 0; i < k_rounds; ++i) {
      CHECK(openmp().unblock(task));
      CHECK(receive(k_tag) == 2 * i);
      CHECK(!openmp().unblock(task)); // there is one
      openmp().block(task);
      CHECK(receive(k_tag) == 2 * i + 1);
      CHECK(openmp().unblock(task)); // there was none
      openmp().block(task);
    }
  });
}

/// Ends each task as soon as its call returns, so that its record is used again at once.
void tasks_end_behind_calls() {
  constexpr int k_tag = 2, k_tasks = 2000;
  if (rank == 1)
    answer(k_tag, k_tasks);
  if (rank != 0)
    return;
  int sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < k_tasks; ++i) {
#pragma omp task shared(sum)
    {
      const int x = receive(k_tag);
#pragma omp atomic
      sum += x;
    }
    if (i % 8 == 7) {
#pragma omp taskwait
    }
  }
  CHECK(sum == k_tasks * (k_tasks - 1) / 2);
}

thread_local int t_mine = 0;

/// Refuses the polling service: the call is MPI's own then, and the thread, a lightweight one, keeps
/// its variables. Rank 1 sends when the service has been refused.
void refused_service() {
  constexpr int k_tag = 3;
  if (rank == 1)
    answer(k_tag, 8);
  if (rank != 0)
    return;
  spy::when_refused = [] { PMPI_Send(nullptr, 0, MPI_INT, 1, k_go, MPI_COMM_WORLD); };
  const ::test::listener errors;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    for (int i = 0; i < 8; ++i) {
      // The service of an earlier call ends when it has found nothing for a while.
      while (spy::made != spy::ended)
        usleep(100);
      t_mine = 1000 + i;
      spy::refuses = true;
      int x = -1;
      MPI_Request r;
      MPI_Irecv(&x, 1, MPI_INT, 1, k_tag, MPI_COMM_WORLD, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      CHECK(x == i && t_mine == 1000 + i);
    }
  CHECK(errors.has_heard("MPI_Wait holds its worker until it ends, because its task cannot be suspended: "
                         "the test refuses a service"));
}

/// Binds a request that has failed before: its task has no status for the error, and a line says so.
void bind_what_has_failed() {
  constexpr int k_tag = 4;
  if (rank == 1) {
    const int x[2] = {1, 2};
    PMPI_Recv(nullptr, 0, MPI_INT, 0, k_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Send(x, 2, MPI_INT, 0, k_tag, MPI_COMM_WORLD);
  }
  if (rank != 0)
    return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const ::test::listener errors;
  in_task([] {
    int x = 0, flag = 0;
    MPI_Request r;
    MPI_Irecv(&x, 1, MPI_INT, 1, k_tag, MPI_COMM_WORLD, &r);
    PMPI_Send(nullptr, 0, MPI_INT, 1, k_go, MPI_COMM_WORLD);
    while (PMPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
      sched_yield();
    weft::mpi::bind(r);
    CHECK(r == MPI_REQUEST_NULL);
  });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(errors.has_heard(
      "weft::mpi::bind: a bound request has failed, and its task has no status for the error"));
}

constexpr ranks::test k_tests[] = {
    {"tokens_of_the_user", 2, &tokens_of_the_user},
    {"tasks_end_behind_calls", 2, &tasks_end_behind_calls},
    {"refused_service", 2, &refused_service},
    {"bind_what_has_failed", 2, &bind_what_has_failed},
};

} // namespace

int main(int argc, char **argv) {
  if (!weft::layer::offered_tasks()) {
    std::fprintf(stderr, "this program's OpenMP is not Weft's\n");
    return EXIT_FAILURE;
  }
  return run(k_tests, argc, argv);
}

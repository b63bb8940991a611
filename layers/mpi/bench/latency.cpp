// SPDX-License-Identifier: Apache-2.0
// What a call of a task costs beside plain MPI, between two ranks, in one run: the kinds take turns, and
// of each kind the best and the median of many windows are printed, in nanoseconds.
//   run_ranks LAUNCHER 2 weft_mpi_latency_MPI [windows]
#include <mpi.h>
#include <weft/mpi.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int k_trips = 200; // of a window
constexpr int k_many = 1000; // requests in flight at once
int rank, other;
double *cell; // what tasks are ordered by

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <int Send(const void *, int, MPI_Datatype, int, int, MPI_Comm),
          int Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *)>
void ping_pong() {
  double x = 0;
  for (int i = 0; i < k_trips; ++i) {
    if (rank == 0)
      Send(&x, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    Recv(&x, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
      Send(&x, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
  }
}

void plain() { ping_pong<&PMPI_Send, &PMPI_Recv>(); }
void outside() { ping_pong<&MPI_Send, &MPI_Recv>(); }
void in_one_task() {
  weft::spawn([] { ping_pong<&MPI_Send, &MPI_Recv>(); });
  weft::taskwait();
}
/// A task for each message; the messages of a rank are ordered by the data.
void task_each() {
  for (int i = 0; i < 2 * k_trips; ++i)
    weft::spawn(
        [i] {
          if (i % 2 == rank)
            MPI_Send(cell, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD);
          else
            MPI_Recv(cell, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        },
        weft::inout(*cell));
  weft::taskwait();
}
void task_each_bound() {
  for (int i = 0; i < 2 * k_trips; ++i)
    weft::spawn(
        [i] {
          MPI_Request r;
          if (i % 2 == rank)
            MPI_Isend(cell, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &r);
          else
            MPI_Irecv(cell, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &r);
          weft::mpi::bind(r);
        },
        weft::inout(*cell));
  weft::taskwait();
}

std::vector<double> g_many(k_many);
void plain_many() {
  std::vector<MPI_Request> r(k_many);
  for (std::size_t i = 0; i < k_many; ++i)
    if (rank == 0)
      MPI_Irecv(&g_many[i], 1, MPI_DOUBLE, other, static_cast<int>(i), MPI_COMM_WORLD, &r[i]);
    else
      MPI_Isend(&g_many[i], 1, MPI_DOUBLE, other, static_cast<int>(i), MPI_COMM_WORLD, &r[i]);
  PMPI_Waitall(k_many, r.data(), MPI_STATUSES_IGNORE);
}
void bound_many() {
  for (std::size_t i = 0; i < k_many; ++i)
    weft::spawn([i] {
      MPI_Request r;
      if (rank == 0)
        MPI_Irecv(&g_many[i], 1, MPI_DOUBLE, other, static_cast<int>(i), MPI_COMM_WORLD, &r);
      else
        MPI_Isend(&g_many[i], 1, MPI_DOUBLE, other, static_cast<int>(i), MPI_COMM_WORLD, &r);
      weft::mpi::bind(r);
    });
  weft::taskwait();
}
void blocking_many() {
  for (std::size_t i = 0; i < k_many; ++i)
    weft::spawn([i] {
      if (rank == 0)
        MPI_Recv(&g_many[i], 1, MPI_DOUBLE, other, static_cast<int>(i), MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      else
        MPI_Send(&g_many[i], 1, MPI_DOUBLE, other, static_cast<int>(i), MPI_COMM_WORLD);
    });
  weft::taskwait();
}

template <int Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)>
void allreduces() {
  double x = 1, sum = 0;
  for (int i = 0; i < k_trips; ++i)
    Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
void allreduces_in_task() {
  weft::spawn([] { allreduces<&MPI_Allreduce>(); });
  weft::taskwait();
}

struct kind {
  const char *name;
  void (*run)();
  int units; // that a window is divided by
  std::vector<double> ns{};
};

} // namespace

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  const int windows = argc > 1 ? std::atoi(argv[1]) : 200;
  double data = 0;
  cell = &data;
  kind kinds[] = {
      {"8 B one way: plain MPI", &plain, 2 * k_trips},
      {"8 B one way: library, outside of tasks", &outside, 2 * k_trips},
      {"8 B one way: one task, blocking calls", &in_one_task, 2 * k_trips},
      {"8 B one way: a task a message, blocking", &task_each, 2 * k_trips},
      {"8 B one way: a task a message, bound", &task_each_bound, 2 * k_trips},
      {"1000 messages at once, each: plain MPI", &plain_many, k_many},
      {"1000 messages at once, each: bound", &bound_many, k_many},
      {"1000 messages at once, each: blocking", &blocking_many, k_many},
      {"allreduce: plain MPI", &allreduces<&PMPI_Allreduce>, k_trips},
      {"allreduce: library, outside of tasks", &allreduces<&MPI_Allreduce>, k_trips},
      {"allreduce: one task", &allreduces_in_task, k_trips},
  };
  for (int w = 0; w < windows; ++w)
    for (kind &k : kinds) {
      PMPI_Barrier(MPI_COMM_WORLD);
      const double begin = now_ns();
      k.run();
      k.ns.push_back((now_ns() - begin) / k.units);
    }
  if (rank == 0)
    for (kind &k : kinds) {
      std::sort(k.ns.begin(), k.ns.end());
      std::printf("%-42s best %8.0f ns   median %8.0f ns\n", k.name, k.ns.front(),
                  k.ns[k.ns.size() / 2]);
    }
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What the programs of ranks share: checks, and the proof that a call suspends its task.
#pragma once

#include <mpi.h>
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ranks {

inline int rank, size;
inline std::atomic<int> failures{0};

inline void check_at(bool holds, const char *what, const char *file, int line) {
  if (!holds && ++failures < 20)
    std::fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, what);
}
#define CHECK(condition) ranks::check_at((condition), #condition, __FILE__, __LINE__)

constexpr int k_go = 31000;

/// Calls `blocking()` in a task of rank 0. It can only return when a child of the task has run, which
/// lets the other ranks call `matching()`. With one worker the child runs only if the call suspends the
/// task: a call that holds its worker is a hang.
template <class Blocking, class Matching>
void suspends(Blocking &&blocking, Matching &&matching) {
  if (rank == 0) {
    weft::spawn([&] {
      weft::spawn([] {
        for (int to = 1; to < size; ++to)
          PMPI_Send(nullptr, 0, MPI_INT, to, k_go, MPI_COMM_WORLD);
      });
      blocking();
      weft::taskwait();
    });
    weft::taskwait();
  } else {
    PMPI_Recv(nullptr, 0, MPI_INT, 0, k_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    matching();
  }
}

struct test {
  const char *name;
  int least_ranks;
  void (*run)();
};

/// Runs the tests, or those that are named, and returns what main() returns.
template <std::size_t N>
int run(const test (&all)[N], int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(level == MPI_THREAD_MULTIPLE);
  int ran = 0;
  for (const test &t : all) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i)
      wanted = wanted || t.name == std::string_view(argv[i]);
    if (!wanted || size < t.least_ranks)
      continue;
    const int before = failures;
    t.run();
    ++ran;
    MPI_Barrier(MPI_COMM_WORLD);
    if (failures != before)
      std::fprintf(stderr, "rank %d: %s has failed\n", rank, t.name);
  }
  CHECK(ran > 0);
  int mine = failures, of_all = 0;
  MPI_Allreduce(&mine, &of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && of_all == 0)
    std::printf("ok: %d tests on %d ranks\n", ran, size);
  return of_all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace ranks

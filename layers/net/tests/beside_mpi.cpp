// SPDX-License-Identifier: Apache-2.0
// Ranks that mpiexec has started meet, and the program initializes MPI after that, before, or never.
//   beside_mpi after|before|never
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>

namespace {

void look(bool is_right, const char *what) {
  if (is_right)
    return;
  std::fprintf(stderr, "%s does not hold\n", what);
  std::exit(9);
}
#define LOOK(what) look((what), #what)

int sum_by_mpi(int own) {
  int all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

} // namespace

int main(int argc, char **argv) {
  const std::string order = argc > 1 ? argv[1] : "after";
  if (order == "before")
    MPI_Init(&argc, &argv);
  int rank = -1, size = 0;
  long sum = 0;
  weft::net::run_ranks([&](weft::net::team &team) {
    rank = team.rank();
    size = team.size();
    sum = team.allreduce(1L);
  });
  LOOK(sum == size);
  if (order == "after")
    MPI_Init(&argc, &argv);
  if (order != "never") {
    int rank_of_mpi = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_mpi);
    LOOK(rank_of_mpi == rank);
    LOOK(sum_by_mpi(rank) == size * (size - 1) / 2);
    MPI_Finalize();
  }
  if (rank == 0) // at the very end: a launcher may lose this where the line is left open
    std::printf("ok: MPI %s, %ld of %d ranks\n", order.c_str(), sum, size);
}

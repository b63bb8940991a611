// SPDX-License-Identifier: Apache-2.0
// Ranks that mpiexec has started meet, and the program initializes MPI after that, before, or never; or
// before with a thread level, and perhaps finalizes it at once, for the engine mpi. Or it says, of ranks that use much
// stack, what size theirs has: of a runtime that the ranks start, or that has started before (`started`).
//   beside_mpi after|before|never|multiple|serialized|funneled|finalized|stacks|started
#include <weft/layer/environment.hpp>
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
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

/// Initializes MPI as `order` says. Returns whether the program has.
bool initialize(const std::string &order, int *argc, char ***argv) {
  if (order == "after" || order == "never" || order == "stacks" || order == "started")
    return false;
  if (order == "before") {
    MPI_Init(argc, argv);
    return true;
  }
  const int wanted = order == "funneled"     ? MPI_THREAD_FUNNELED
                     : order == "serialized" ? MPI_THREAD_SERIALIZED
                                             : MPI_THREAD_MULTIPLE;
  int level = 0;
  MPI_Init_thread(argc, argv, wanted, &level);
  if (order == "finalized")
    MPI_Finalize();
  return true;
}

/// Writes to a frame that is larger than stacks are without MPI.
void use_stack() {
  std::array<volatile char, 300 << 10> frame;
  for (std::size_t i = 0; i < frame.size(); i += 1024)
    frame[i] = 1;
}

int run(int argc, char **argv);

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(5);
  }
}

namespace {

int run(int argc, char **argv) {
  const std::string order = argc > 1 ? argv[1] : "after";
  initialize(order, &argc, &argv);
  if (order == "started")
    weft::start();
  int rank = -1, size = 0;
  long sum = 0;
  weft::net::run_ranks([&](weft::net::team &team) {
    rank = team.rank();
    size = team.size();
    sum = team.allreduce(1L);
    if (order == "stacks" || order == "started")
      use_stack();
    if (order == "multiple") { // the program's own calls, while the engine makes its own
      LOOK(sum_by_mpi(rank) == size * (size - 1) / 2);
      LOOK(team.allreduce(2L) == 2L * size);
    }
  });
  LOOK(sum == size);
  if (order == "stacks" || order == "started") {
    if (rank == 0)
      std::printf("ok: stacks of %s, %ld of %d ranks\n", weft::layer::setting("stack.bytes").c_str(), sum, size);
    return 0;
  }
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
  return 0;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// What the versions over MPI have in common: ranks, tags, and how a rank begins and ends.
#pragma once

#include "../apps/run.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace net_bench {

/// Is a rank of MPI, from construction to destruction.
class mpi_rank {
 public:
  mpi_rank(int *argc, char ***argv, int wanted) {
    int level = 0;
    MPI_Init_thread(argc, argv, wanted, &level);
    if (level < wanted)
      throw std::runtime_error("MPI gives fewer threads than this program needs");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  mpi_rank(const mpi_rank &) = delete;
  mpi_rank &operator=(const mpi_rank &) = delete;
  ~mpi_rank() { MPI_Finalize(); }
  int rank = 0, ranks = 1;
};

/// Returns the tag of a piece. Two rounds of a piece may be under way, and have tags of their own.
[[nodiscard]] inline int tag_of(int piece, int round) { return 2 * piece + round % 2; }

/// Runs the applications, and returns what main() returns. A rank that fails ends the job.
template <class Version>
int run_mpi(int argc, char **argv, int wanted, const char *program) {
  try {
    const options o = parse({argv + 1, argv + argc});
    const mpi_rank own(&argc, &argv, wanted);
    try {
      meter times(events_of(o));
      Version v(own, times);
      if (run_apps(v, times, o))
        return EXIT_SUCCESS;
    } catch (const std::exception &e) {
      std::fprintf(stderr, "%s: %s\n", program, e.what());
    }
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
  }
  return EXIT_FAILURE;
}

} // namespace net_bench

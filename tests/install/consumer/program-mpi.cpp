// SPDX-License-Identifier: Apache-2.0
// One rank: a task receives what another one sends.
#include <weft/mpi.hpp>
#include <weft/version.hpp>
#include <weft/weft.hpp>

#include <cstdio>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int got = 0;
  weft::spawn([&] { MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
  weft::spawn([] {
    static const int x = 6; // until the request has ended
    MPI_Request request;
    MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    weft::mpi::bind(request);
  });
  weft::taskwait();
  MPI_Finalize();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, 7 * got);
  return got == 6 ? 0 : 1;
}

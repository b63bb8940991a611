/* SPDX-License-Identifier: Apache-2.0 */
/* A program of MPI that knows nothing of Weft: for the preloaded library, and for the wrong one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int level = -1, rank = 0, size = 0, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv_replace(&sum, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    printf("level %s, sum %d of %d ranks\n", level == MPI_THREAD_MULTIPLE ? "multiple" : "lower",
           sum, size);
  MPI_Finalize();
  return 0;
}

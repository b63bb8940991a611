// SPDX-License-Identifier: Apache-2.0
// A program of MPI whose processes become those of LPF, twice, all of them and some of them.
#include <lpf/core.h>
#include <lpf/mpi.h>

#include <mpi.h>

#include <stdio.h>

const int LPF_MPI_AUTO_INITIALIZE = 0;

static int failed = 0;

static void ring(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  int values[2], expected = (int)((pid + nprocs - 1) % nprocs);
  double times[2]; // of lpf_probe(), the own one and the neighbour's: the same, because they are of all together
  lpf_machine_t machine = LPF_INVALID_MACHINE;
  lpf_memslot_t slot, time_slot;
  values[0] = (int)pid;
  values[1] = -1;
  failed |= (int)nprocs != *(const int *)args.input;
  failed |= lpf_probe(ctx, &machine) != LPF_SUCCESS || machine.p != nprocs;
  times[0] = machine.g(nprocs, 8, LPF_SYNC_DEFAULT) + machine.l(nprocs, 0, LPF_SYNC_DEFAULT);
  failed |= lpf_resize_memory_register(ctx, 2) != LPF_SUCCESS;
  failed |= lpf_resize_message_queue(ctx, 2) != LPF_SUCCESS;
  failed |= lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_SUCCESS;
  failed |= lpf_register_global(ctx, values, sizeof values, &slot) != LPF_SUCCESS;
  failed |= lpf_register_global(ctx, times, sizeof times, &time_slot) != LPF_SUCCESS;
  failed |= lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_SUCCESS;
  failed |= lpf_put(ctx, slot, 0, (pid + 1) % nprocs, slot, sizeof(int), sizeof(int),
                    LPF_MSG_DEFAULT) != LPF_SUCCESS;
  failed |= lpf_put(ctx, time_slot, 0, (pid + 1) % nprocs, time_slot, sizeof(double), sizeof(double),
                    LPF_MSG_DEFAULT) != LPF_SUCCESS;
  failed |= lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_SUCCESS;
  failed |= times[0] <= 0 || times[0] != times[1];
  failed |= values[1] != expected;
}

static void hook(MPI_Comm comm, int size) {
  lpf_init_t init = LPF_INIT_NONE;
  lpf_args_t args = LPF_NO_ARGS;
  args.input = &size;
  args.input_size = sizeof size;
  failed |= lpf_mpi_initialize_with_mpicomm(comm, &init) != LPF_SUCCESS;
  failed |= lpf_hook(init, &ring, args) != LPF_SUCCESS;
  failed |= lpf_mpi_finalize(init) != LPF_SUCCESS;
}

int main(int count, char **values) {
  int rank, size, sum = 0;
  MPI_Comm half;
  MPI_Init(&count, &values);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  hook(MPI_COMM_WORLD, size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  hook(half, rank % 2 == 0 ? (size + 1) / 2 : size / 2);
  MPI_Comm_free(&half);
  MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d processes failed\n", sum);
  MPI_Finalize();
  return sum != 0;
}

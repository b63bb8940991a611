// SPDX-License-Identifier: Apache-2.0
// A program of LPF in C: each process writes its number into an array of process 0.
#include <lpf/abort.h>
#include <lpf/core.h>
#include <lpf/cost.h>
#include <lpf/noc.h>
#include <lpf/pthread.h>

static void fill(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  lpf_memslot_t own = LPF_INVALID_MEMSLOT, all = LPF_INVALID_MEMSLOT;
  int value = (int)pid + 1;
  (void)nprocs;
  if (lpf_resize_memory_register(ctx, 2) != LPF_SUCCESS ||
      lpf_resize_message_queue(ctx, nprocs) != LPF_SUCCESS ||
      lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_SUCCESS)
    return;
  if (lpf_register_local(ctx, &value, sizeof value, &own) != LPF_SUCCESS ||
      lpf_register_global(ctx, args.output, args.output_size, &all) != LPF_SUCCESS ||
      lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_SUCCESS)
    return;
  if (lpf_put(ctx, own, 0, 0, all, pid * sizeof value, sizeof value, LPF_MSG_DEFAULT) !=
      LPF_SUCCESS)
    return;
  (void)lpf_sync(ctx, LPF_SYNC_DEFAULT);
  (void)lpf_deregister(ctx, own);
  (void)lpf_deregister(ctx, all);
}

// Returns the sum of what the processes have written; -1 after an error.
int hello_in_c(unsigned processes) {
  int values[16] = {0}, sum = 0, i;
  lpf_args_t args = LPF_NO_ARGS;
  args.output = values;
  args.output_size = sizeof values;
  if (lpf_exec(LPF_ROOT, processes, &fill, args) != LPF_SUCCESS)
    return -1;
  for (i = 0; i < 16; ++i)
    sum += values[i];
  return sum;
}

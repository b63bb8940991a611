// SPDX-License-Identifier: Apache-2.0
// Sums squares in all processes of LPF, and adds the parts at process 0.
#include <lpf/core.h>

#include <stdio.h>
#include <stdlib.h>

enum { k_last = 1000, k_most = 64 };

static void check(lpf_err_t code) {
  if (code != LPF_SUCCESS) {
    fprintf(stderr, "LPF failed with code %d\n", code);
    exit(EXIT_FAILURE);
  }
}

static void sum(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  lpf_memslot_t own, all;
  long part = 0;
  for (long i = pid; i <= k_last; i += nprocs)
    part += i * i;

  check(lpf_resize_memory_register(ctx, 2));
  check(lpf_resize_message_queue(ctx, nprocs));
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT));

  check(lpf_register_local(ctx, &part, sizeof part, &own));
  check(lpf_register_global(ctx, args.output, args.output_size, &all));
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT));

  check(lpf_put(ctx, own, 0, 0, all, pid * sizeof part, sizeof part, LPF_MSG_DEFAULT));
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

int main(void) {
  long parts[k_most] = {0}, total = 0;
  lpf_args_t args = LPF_NO_ARGS;
  args.output = parts;
  args.output_size = sizeof parts;
  check(lpf_exec(LPF_ROOT, k_most, &sum, args));
  for (int i = 0; i < k_most; ++i)
    total += parts[i];
  printf("the sum is %ld\n", total);
  return total == (long)k_last * (k_last + 1) * (2 * k_last + 1) / 6 ? EXIT_SUCCESS : EXIT_FAILURE;
}

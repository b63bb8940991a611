// SPDX-License-Identifier: Apache-2.0
#include <lpf/core.h>
#include <weft/version.hpp>

#include <atomic>
#include <cstdio>

static std::atomic<int> sum{0};

static void spmd(lpf_t ctx, lpf_pid_t, lpf_pid_t nprocs, lpf_args_t) {
  if (lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS)
    sum += 42 / static_cast<int>(nprocs) + 42 % static_cast<int>(nprocs);
}

int main() {
  const lpf_err_t code = lpf_exec(LPF_ROOT, 2, &spmd, LPF_NO_ARGS);
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, sum.load());
  return code == LPF_SUCCESS ? 0 : 1;
}

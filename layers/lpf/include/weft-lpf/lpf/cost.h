// SPDX-License-Identifier: Apache-2.0
// LPF over Weft: what a superstep has cost.
#pragma once

#include <lpf/core.h>

#ifdef __cplusplus
extern "C" {
#endif

// What this process did in a superstep.
typedef struct weft_lpf_counts {
  size_t messages; // sent to other processes
  size_t bytes;    // in these
  size_t reads;    // of memory of other processes
  size_t steps; // times that the process waited for others: 1, or more with gets and long copies
} weft_lpf_cost_t;

// Returns what the last lpf_sync() of this process has cost.
lpf_err_t weft_lpf_cost(lpf_t ctx, weft_lpf_cost_t *cost);

#ifdef __cplusplus
}
#endif

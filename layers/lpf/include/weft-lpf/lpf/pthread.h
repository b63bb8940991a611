// SPDX-License-Identifier: Apache-2.0
// LPF: threads that exist become processes.
#pragma once

#include <lpf/core.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes the calling thread process `pid` of `nprocs`. As many threads call it, and wait for each other.
//
// Errors. LPF_ERR_OUT_OF_MEMORY; LPF_ERR_FATAL, with a message, for numbers that do not fit together.
// Ownership. lpf_pthread_finalize() frees `init`.
lpf_err_t lpf_pthread_initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t *init);

// Frees what lpf_pthread_initialize() has made. All threads call it, after the last lpf_hook().
lpf_err_t lpf_pthread_finalize(lpf_init_t init);

#ifdef __cplusplus
}
#endif

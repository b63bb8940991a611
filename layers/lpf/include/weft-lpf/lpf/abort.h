// SPDX-License-Identifier: Apache-2.0
// LPF: how to end all processes at once.
#pragma once

#include <lpf/core.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const int LPF_HAS_ABORT; // not 0: lpf_abort() ends the program

// Ends this process, with exit code 6 and without destructors, and the job with it. Does not return.
lpf_err_t lpf_abort(lpf_t ctx);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// OpenBLAS without parallelism of its own: the tasks are parallel.
#pragma once

#include <cblas.h>

extern "C" void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

namespace app {

inline void use_one_blas_thread() { openblas_set_num_threads(1); }

} // namespace app

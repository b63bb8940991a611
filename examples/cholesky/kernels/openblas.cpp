// SPDX-License-Identifier: Apache-2.0
// The routines from OpenBLAS, on one thread: the tasks are the parallelism.
#include "kernel_set.hpp"

#include <cblas.h>

extern "C" void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

namespace demo {

namespace {

CBLAS_TRANSPOSE blas(transposed t) {
  return t == transposed::yes ? CblasTrans : CblasNoTrans;
}

int potrf(int n, double *a, int ld) {
  int info = 0;
  dpotrf_("L", &n, a, &ld, &info);
  return info;
}

void trsm_right(int m, int n, const double *l, int ldl, double *b, int ldb) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0, l, ldl, b, ldb);
}

void trsm_left(transposed t, int n, int m, const double *l, int ldl, double *b, int ldb) {
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, blas(t), CblasNonUnit, n, m, 1.0, l, ldl, b, ldb);
}

void syrk(int n, int k, const double *a, int lda, double *c, int ldc) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1.0, a, lda, 1.0, c, ldc);
}

void gemm(transposed ta, transposed tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c,
          int ldc) {
  cblas_dgemm(CblasColMajor, blas(ta), blas(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemv(transposed t, int m, int n, const double *a, int lda, const double *x, double *y) {
  cblas_dgemv(CblasColMajor, blas(t), m, n, 1.0, a, lda, x, 1, 1.0, y, 1);
}

void trmv(transposed t, int n, const double *l, int ldl, double *x) {
  cblas_dtrmv(CblasColMajor, CblasLower, blas(t), CblasNonUnit, n, l, ldl, x, 1);
}

double dot(int n, const double *x, const double *y) {
  return cblas_ddot(n, x, 1, y, 1);
}

/// Keeps OpenBLAS to one thread. OpenBLAS makes its threads when the program is loaded; none of
/// them computes.
[[maybe_unused]] const bool k_one_thread = [] {
  openblas_set_num_threads(1);
  return true;
}();

} // namespace

extern const kernel_set openblas_kernels;
const kernel_set openblas_kernels{"openblas", potrf, trsm_right, trsm_left, syrk, gemm, gemv, trmv, dot};

} // namespace demo

// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra on one tile: the few routines that this program needs, from its own code or from OpenBLAS.
//
// All matrices lie column by column; `ld` is the distance between two columns. Each routine runs on the calling thread and touches nothing shared.
#pragma once

namespace demo {

enum class transposed : bool { no, yes };

/// Holds the routines of one implementation. `name` is what --kernels takes and what the program
/// prints.
struct kernel_set {
  const char *name;
  /// Replaces the lower triangle of the n x n matrix `a` by its Cholesky factor. Returns 0, or the number (from 1) of the pivot that is not positive.
  int (*potrf)(int n, double *a, int ld);
  /// Computes b = b L^-T: L is the lower triangle of the n x n matrix `l`, b is m x n.
  void (*trsm_right)(int m, int n, const double *l, int ldl, double *b, int ldb);
  /// Computes b = L^-1 b, or L^-T b: L is n x n, b is n x m.
  void (*trsm_left)(transposed t, int n, int m, const double *l, int ldl, double *b, int ldb);
  /// Computes the lower triangle of c -= a a^T: c is n x n, a is n x k.
  void (*syrk)(int n, int k, const double *a, int lda, double *c, int ldc);
  /// Computes c = alpha op(a) op(b) + beta c: c is m x n, op(a) is m x k. With beta = 0, c may be
  /// uninitialised.
  void (*gemm)(transposed ta, transposed tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c,
               int ldc);
  /// Computes y += op(a) x: a is m x n.
  void (*gemv)(transposed t, int m, int n, const double *a, int lda, const double *x, double *y);
  /// Computes x = op(L) x: L is the lower triangle of the n x n matrix `l`.
  void (*trmv)(transposed t, int n, const double *l, int ldl, double *x);
  /// Returns the sum of x[i] y[i].
  double (*dot)(int n, const double *x, const double *y);
};

/// Gives the buffer that the own routines pack their operands into. It belongs to the calling
/// thread, begins on a cache line, and is made at the thread's first call.
inline constexpr int k_workspace_doubles = 2 * 96 * 192;
double *kernel_workspace();

} // namespace demo

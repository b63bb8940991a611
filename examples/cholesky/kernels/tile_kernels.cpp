// SPDX-License-Identifier: Apache-2.0
// The routines in plain C++. The build compiles this file once per instruction set and names the result DEMO_KERNELS.
//
// Nearly all work is matrix products. A product packs both operands into strips as wide as its innermost block, pads them with zeros, and then
// updates one block of c after the other in registers (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008).
// The other routines cut their triangle into narrow columns, so that all but the small triangles is a product as well.
//
// Only headers without inline functions may be included here: a function compiled for AVX-512 must not become the program's only copy.
#include "kernel_set.hpp"

#define DEMO_STRING2(x) #x
#define DEMO_STRING(x) DEMO_STRING2(x)
#define DEMO_JOIN2(a, b) a##b
#define DEMO_JOIN(a, b) DEMO_JOIN2(a, b)

namespace demo {

namespace {

// A block of c: `k_vectors` vectors of rows by `k_columns` columns, all of it in registers, with room for a vector of a and an element of b.
#if defined(__AVX512F__)
constexpr int k_bytes = 64, k_vectors = 3, k_columns = 8; // 24 of 32 registers
#elif defined(__AVX__)
constexpr int k_bytes = 32, k_vectors = 3, k_columns = 4; // 12 of 16
#elif defined(__aarch64__)
constexpr int k_bytes = 16, k_vectors = 4, k_columns = 6; // 24 of 32
#else
constexpr int k_bytes = 16, k_vectors = 2, k_columns = 4; // 8 of 16
#endif
using vec [[gnu::vector_size(k_bytes)]] = double;
using unaligned_vec [[gnu::vector_size(k_bytes), gnu::aligned(8), gnu::may_alias]] = double;
constexpr int k_lanes = k_bytes / 8;
constexpr int k_rows = k_vectors * k_lanes;

// What is packed at a time: a block of op(a), which stays in the second-level cache, and one of op(b).
constexpr int k_most_rows = 96, k_most_columns = 96, k_most_depth = 192;
static_assert(k_most_rows % k_rows == 0 && k_most_columns % k_columns == 0);
static_assert((k_most_rows + k_most_columns) * k_most_depth <= k_workspace_doubles);
constexpr int k_narrow = 24; // columns of a triangle that are solved without a product
static_assert(k_most_columns % k_narrow == 0);

int least(int a, int b) {
  return a < b ? a : b;
}

double root(double x) {
  return __builtin_sqrt(x);
}

/// Describes a matrix whose element (i, j) is data[i * row + j * column].
struct view {
  const double *data;
  long row, column;
  [[nodiscard]] const double *at(int i, int j) const { return data + i * row + j * column; }
};

view op(transposed t, const double *a, int ld) {
  return t == transposed::yes ? view{a, ld, 1} : view{a, 1, ld};
}

/// Packs m x k elements into strips of `Width` rows, each strip column by column, the last one padded with zeros.
template <int Width>
void pack(int m, int k, view a, double *out) {
  for (int i = 0; i < m; i += Width) {
    const int width = least(Width, m - i);
    for (int p = 0; p < k; ++p, out += Width) {
      const double *from = a.at(i, p);
      if (width == Width && a.row == 1)
        for (int r = 0; r < Width; ++r)
          out[r] = from[r];
      else
        for (int r = 0; r < Width; ++r)
          out[r] = r < width ? from[r * a.row] : 0;
    }
  }
}

/// Computes c += alpha a b for one whole block, a and b packed.
void multiply_block(int k, double alpha, const double *a, const double *b, double *c, int ldc) {
  vec sum[k_columns][k_vectors] = {};
  for (int p = 0; p < k; ++p, a += k_rows, b += k_columns) {
    vec left[k_vectors];
#pragma GCC unroll 8
    for (int v = 0; v < k_vectors; ++v)
      left[v] = *reinterpret_cast<const vec *>(a + v * k_lanes);
#pragma GCC unroll 8
    for (int j = 0; j < k_columns; ++j)
#pragma GCC unroll 8
      for (int v = 0; v < k_vectors; ++v)
        sum[j][v] += left[v] * b[j];
  }
#pragma GCC unroll 8
  for (int j = 0; j < k_columns; ++j)
#pragma GCC unroll 8
    for (int v = 0; v < k_vectors; ++v)
      *reinterpret_cast<unaligned_vec *>(c + j * static_cast<long>(ldc) + v * k_lanes) += alpha * sum[j][v];
}

/// Computes the same for a block at the edge, of which only m x n elements exist.
void multiply_edge(int m, int n, int k, double alpha, const double *a, const double *b, double *c, int ldc) {
  alignas(64) double whole[k_rows * k_columns] = {};
  multiply_block(k, alpha, a, b, whole, k_rows);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      c[j * static_cast<long>(ldc) + i] += whole[j * k_rows + i];
}

/// Computes c += alpha a b, where the operands are packed.
void multiply_packed(int m, int n, int k, double alpha, const double *packed_a, const double *packed_b, double *c, int ldc) {
  for (int j = 0; j < n; j += k_columns)
    for (int i = 0; i < m; i += k_rows) {
      const int rows = least(k_rows, m - i), columns = least(k_columns, n - j);
      const double *a = packed_a + static_cast<long>(i) * k, *b = packed_b + static_cast<long>(j) * k;
      double *block = c + j * static_cast<long>(ldc) + i;
      if (rows == k_rows && columns == k_columns)
        multiply_block(k, alpha, a, b, block, ldc);
      else
        multiply_edge(rows, columns, k, alpha, a, b, block, ldc);
    }
}

/// Computes c += alpha a b.
void add_product(int m, int n, int k, double alpha, view a, view b, double *c, int ldc) {
  double *packed_a = kernel_workspace(), *packed_b = packed_a + k_most_rows * k_most_depth;
  for (int p = 0; p < k; p += k_most_depth) {
    const int depth = least(k_most_depth, k - p);
    for (int j = 0; j < n; j += k_most_columns) {
      const int columns = least(k_most_columns, n - j);
      pack<k_columns>(columns, depth, view{b.at(p, j), b.column, b.row}, packed_b);
      for (int i = 0; i < m; i += k_most_rows) {
        const int rows = least(k_most_rows, m - i);
        pack<k_rows>(rows, depth, view{a.at(i, p), a.row, a.column}, packed_a);
        multiply_packed(rows, columns, depth, alpha, packed_a, packed_b, c + j * static_cast<long>(ldc) + i, ldc);
      }
    }
  }
}

/// Computes y += alpha x.
void add(int n, double alpha, const double *x, double *y) {
  for (int i = 0; i < n; ++i)
    y[i] += alpha * x[i];
}

void scale(int n, double alpha, double *x) {
  for (int i = 0; i < n; ++i)
    x[i] *= alpha;
}

double dot(int n, const double *x, const double *y) {
  vec sums[2] = {};
  int i = 0;
  for (; i + 2 * k_lanes <= n; i += 2 * k_lanes)
    for (int v = 0; v < 2; ++v)
      sums[v] += *reinterpret_cast<const unaligned_vec *>(x + i + v * k_lanes) * *reinterpret_cast<const unaligned_vec *>(y + i + v * k_lanes);
  sums[0] += sums[1];
  double sum = 0;
  for (int v = 0; v < k_lanes; ++v)
    sum += sums[0][v];
  for (; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}

void gemm(transposed ta, transposed tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c,
          int ldc) {
  for (int j = 0; j < n && beta != 1; ++j) {
    double *column = c + static_cast<long>(j) * ldc;
    for (int i = 0; i < m; ++i)
      column[i] = beta == 0 ? 0 : beta * column[i];
  }
  add_product(m, n, k, alpha, op(ta, a, lda), op(tb, b, ldb), c, ldc);
}

/// Computes c -= a a^T in the lower triangle; the small triangles on the diagonal are computed as
/// squares beside c.
void syrk(int n, int k, const double *a, int lda, double *c, int ldc) {
  const view rows = op(transposed::no, a, lda), columns = op(transposed::yes, a, lda);
  for (int j = 0; j < n; j += k_narrow) {
    const int width = least(k_narrow, n - j);
    double square[k_narrow * k_narrow] = {};
    const view top{rows.at(j, 0), rows.row, rows.column}, right{columns.at(0, j), columns.row, columns.column};
    add_product(width, width, k, -1, top, right, square, k_narrow);
    double *diagonal = c + static_cast<long>(j) * ldc + j;
    for (int q = 0; q < width; ++q)
      for (int r = q; r < width; ++r)
        diagonal[static_cast<long>(q) * ldc + r] += square[q * k_narrow + r];
    add_product(n - j - width, width, k, -1, view{rows.at(j + width, 0), rows.row, rows.column}, right, diagonal + width, ldc);
  }
}

/// Computes b = b L^-T, column by column.
void solve_columns(int m, int n, const double *l, int ldl, double *b, int ldb) {
  for (int j = 0; j < n; ++j) {
    double *column = b + static_cast<long>(j) * ldb;
    for (int p = 0; p < j; ++p)
      add(m, -l[static_cast<long>(p) * ldl + j], b + static_cast<long>(p) * ldb, column);
    scale(m, 1 / l[static_cast<long>(j) * ldl + j], column);
  }
}

void trsm_right(int m, int n, const double *l, int ldl, double *b, int ldb) {
  const view done = op(transposed::no, b, ldb), factor = op(transposed::yes, l, ldl);
  for (int j = 0; j < n; j += k_narrow) {
    const int width = least(k_narrow, n - j);
    add_product(m, width, j, -1, done, view{factor.at(0, j), factor.row, factor.column}, b + static_cast<long>(j) * ldb, ldb);
    solve_columns(m, width, l + static_cast<long>(j) * ldl + j, ldl, b + static_cast<long>(j) * ldb, ldb);
  }
}

void trsm_left(transposed t, int n, int m, const double *l, int ldl, double *b, int ldb) {
  for (int c = 0; c < m; ++c) {
    double *x = b + static_cast<long>(c) * ldb;
    if (t == transposed::no)
      for (int k = 0; k < n; ++k) {
        const double *column = l + static_cast<long>(k) * ldl;
        x[k] /= column[k];
        add(n - k - 1, -x[k], column + k + 1, x + k + 1);
      }
    else
      for (int k = n - 1; k >= 0; --k) {
        const double *column = l + static_cast<long>(k) * ldl;
        x[k] = (x[k] - dot(n - k - 1, column + k + 1, x + k + 1)) / column[k];
      }
  }
}

/// Computes the Cholesky factor of a narrow matrix, column by column. A pivot that is not a number
/// is not positive either.
int factor_columns(int n, double *a, int ld) {
  for (int j = 0; j < n; ++j) {
    double *column = a + static_cast<long>(j) * ld;
    for (int p = 0; p < j; ++p) {
      const double *left = a + static_cast<long>(p) * ld;
      add(n - j, -left[j], left + j, column + j);
    }
    if (!(column[j] > 0))
      return j + 1;
    const double pivot = root(column[j]);
    column[j] = pivot;
    scale(n - j - 1, 1 / pivot, column + j + 1);
  }
  return 0;
}

int potrf(int n, double *a, int ld) {
  for (int j = 0; j < n; j += k_narrow) {
    const int width = least(k_narrow, n - j), rest = n - j - width;
    double *diagonal = a + static_cast<long>(j) * ld + j;
    if (const int bad = factor_columns(width, diagonal, ld))
      return j + bad;
    double *below = diagonal + width;
    solve_columns(rest, width, diagonal, ld, below, ld);
    syrk(rest, width, below, ld, below + static_cast<long>(width) * ld, ld);
  }
  return 0;
}

void gemv(transposed t, int m, int n, const double *a, int lda, const double *x, double *y) {
  for (int j = 0; j < n; ++j) {
    const double *column = a + static_cast<long>(j) * lda;
    if (t == transposed::yes)
      y[j] += dot(m, column, x);
    else
      add(m, x[j], column, y);
  }
}

void trmv(transposed t, int n, const double *l, int ldl, double *x) {
  if (t == transposed::yes)
    for (int j = 0; j < n; ++j) {
      const double *column = l + static_cast<long>(j) * ldl;
      x[j] = dot(n - j, column + j, x + j);
    }
  else
    for (int j = n - 1; j >= 0; --j) {
      const double *column = l + static_cast<long>(j) * ldl;
      add(n - j - 1, x[j], column + j + 1, x + j + 1);
      x[j] *= column[j];
    }
}

} // namespace

extern const kernel_set DEMO_JOIN(DEMO_KERNELS, _kernels);
const kernel_set DEMO_JOIN(DEMO_KERNELS, _kernels){DEMO_STRING(DEMO_KERNELS), potrf, trsm_right, trsm_left, syrk, gemm, gemv, trmv, dot};

} // namespace demo

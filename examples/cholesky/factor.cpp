// SPDX-License-Identifier: Apache-2.0
#include "factor.hpp"

#include "kernels/kernels.hpp"

#include <string>

namespace demo {

using weft::in;
using weft::inout;

not_definite::not_definite(int tile, int pivot, int row)
    : numerical_error("the matrix is not positive definite: pivot " + std::to_string(pivot) +
                      " of diagonal tile " + std::to_string(tile) + " (row " + std::to_string(row) +
                      ") is not positive; make the diagonal larger") {}

namespace {

void potrf(const tiles &a, int k) {
  const blocking &b = a.blocks();
  if (const int bad = kernels().potrf(b.rows(k), &a(k, k), b.tile))
    throw not_definite(k, bad - 1, b.first(k) + bad - 1);
}

void trsm(const tiles &a, int i, int k) {
  const blocking &b = a.blocks();
  kernels().trsm_right(b.rows(i), b.rows(k), &a(k, k), b.tile, &a(i, k), b.tile);
}

void syrk(const tiles &a, int j, int k) {
  const blocking &b = a.blocks();
  kernels().syrk(b.rows(j), b.rows(k), &a(j, k), b.tile, &a(j, j), b.tile);
}

void gemm(const tiles &a, int i, int j, int k) {
  const blocking &b = a.blocks();
  kernels().gemm(transposed::no, transposed::yes, b.rows(i), b.rows(j), b.rows(k), -1.0, &a(i, k), b.tile, &a(j, k), b.tile, 1.0, &a(i, j), b.tile);
}

/// Computes x(k) = L(k,k)^-1 x(k), or with the transposed tile.
void solve_block(const tiles &l, const panel &x, int k, transposed t) {
  const blocking &b = l.blocks();
  kernels().trsm_left(t, b.rows(k), x.columns(), &l(k, k), b.tile, &x(k), b.tile);
}

/// Computes x(i) -= L(i,k) x(k), i > k.
void eliminate(const tiles &l, const panel &x, int i, int k) {
  const blocking &b = l.blocks();
  kernels().gemm(transposed::no, transposed::no, b.rows(i), x.columns(), b.rows(k), -1.0, &l(i, k), b.tile, &x(k), b.tile, 1.0, &x(i), b.tile);
}

/// Computes x(i) -= L(k,i)^T x(k), i < k.
void substitute(const tiles &l, const panel &x, int i, int k) {
  const blocking &b = l.blocks();
  kernels().gemm(transposed::yes, transposed::no, b.rows(i), x.columns(), b.rows(k), -1.0, &l(k, i), b.tile, &x(k), b.tile, 1.0, &x(i), b.tile);
}

} // namespace

void factorise(work &w, const tiles &a) {
  const int n = a.blocks().count();
  for (int k = 0; k < n; ++k) {
    w.spawn("potrf", [&a, k] { potrf(a, k); }, inout(a(k, k)));
    for (int i = k + 1; i < n; ++i)
      w.spawn("trsm", [&a, i, k] { trsm(a, i, k); }, in(a(k, k)), inout(a(i, k)));
    for (int j = k + 1; j < n; ++j) {
      w.spawn("syrk", [&a, j, k] { syrk(a, j, k); }, in(a(j, k)), inout(a(j, j)));
      for (int i = j + 1; i < n; ++i)
        w.spawn("gemm", [&a, i, j, k] { gemm(a, i, j, k); }, in(a(i, k)), in(a(j, k)), inout(a(i, j)));
    }
  }
}

void solve(work &w, const tiles &l, const panel &x) {
  const int n = l.blocks().count();
  for (int k = 0; k < n; ++k) {
    w.spawn("forward", [&l, &x, k] { solve_block(l, x, k, transposed::no); }, in(l(k, k)), inout(x(k)));
    for (int i = k + 1; i < n; ++i)
      w.spawn("eliminate", [&l, &x, i, k] { eliminate(l, x, i, k); }, in(l(i, k)), in(x(k)), inout(x(i)));
  }
  for (int k = n - 1; k >= 0; --k) {
    w.spawn("backward", [&l, &x, k] { solve_block(l, x, k, transposed::yes); }, in(l(k, k)), inout(x(k)));
    for (int i = 0; i < k; ++i)
      w.spawn("substitute", [&l, &x, i, k] { substitute(l, x, i, k); }, in(l(k, i)), in(x(k)), inout(x(i)));
  }
}

} // namespace demo

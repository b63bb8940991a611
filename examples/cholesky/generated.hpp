// SPDX-License-Identifier: Apache-2.0
// A symmetric matrix of any order without input: random numbers, and its order on the diagonal.
#pragma once

#include "tiles.hpp"
#include "work.hpp"

namespace demo {

/// Holds a matrix whose entries off the diagonal lie in [-1, 1); those on the diagonal are the
/// order plus `shift`. It is positive definite when shift > 0, almost surely for 0, never below
/// -order.
class generated {
 public:
  generated(int order, double shift) : m_order(order), m_shift(shift) {}
  /// Spawns the tasks that fill the lower triangle.
  void fill(work &w, const tiles &a) const;
  /// Returns |(A - L L^T) x| / |A x| for a random x; O(order^2).
  [[nodiscard]] double residual(const tiles &l) const;

 private:
  struct squares {
    double error = 0;
    double size = 0;
  };
  [[nodiscard]] double entry(int i, int j) const;
  void fill_tile(const tiles &a, int i, int j) const;
  [[nodiscard]] double times(int row, const double *x) const;
  [[nodiscard]] squares probe(const tiles &l, int i, const double *x, const double *y) const;

  int m_order;
  double m_shift;
};

} // namespace demo

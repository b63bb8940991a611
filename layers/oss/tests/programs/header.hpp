// SPDX-License-Identifier: Apache-2.0
// A header with pragmas.
#pragma once

template <class T, int N>
struct stencil {
  T cells[N] = {};
  static inline int used = 0;

  void fill(T value) {
    for (int i = 0; i < N; ++i) {
#pragma oss task out(cells[i]) label("fill")
      cells[i] = value + static_cast<T>(i);
    }
  }
  T sum() {
    T total{};
#pragma oss task in(cells[0; N])in({cells[i], i = 0; N}) shared(total)
    for (const T &c : cells)
      total += c;
#pragma oss taskwait
    ++used;
    return total;
  }
  static void count(int &n) {
#pragma oss task inout(n)
    n += used;
#pragma oss taskwait
  }
};

inline int twice(int x) {
  int result = 0;
#pragma oss task out(result)
  result = 2 * x;
#pragma oss taskwait
  return result;
}

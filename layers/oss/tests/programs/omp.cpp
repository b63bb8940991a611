// SPDX-License-Identifier: Apache-2.0
// `#pragma omp` of OmpSs-1, by --ompss: on statements, in templates, on functions and members.
#include "check.hpp"

namespace {

template <class T>
struct cell {
  T value{};
#pragma omp task inout(value)
  void add(T by) {
    weft::this_task::sleep_for_ns(1000000);
    value += by;
  }
};

template <class T>
T sum_of(const T *v, int n) {
  T sum{}, last{};
  for (int i = 0; i < n; ++i) {
#pragma omp task in(v[i]) inout(sum) label("sum")
    sum += v[i];
  }
#pragma omp task in(sum) out(last)
  last = sum;
#pragma omp taskwait on(last)
  return last;
}

} // namespace

int main() {
  cell<int> c;
  c.add(40);
  c.add(2);
#pragma omp taskwait
  CHECK(c.value == 42);
  const double v[] = {1, 2, 3.5};
  CHECK(sum_of(v, 3) == 6.5);
  int x = 0;
  const auto spawn = [&x] {
    _Pragma("omp task inout(x)") ++x;
  };
  spawn();
  spawn();
#pragma omp taskwait
  CHECK(x == 2);
}

# SPDX-License-Identifier: Apache-2.0
# Directives of OpenMP in front of loops: a task's statement has them, and a loop that is divided refuses them. simd EXTENSION
simd() {
  cat >simd."$1" <<'S'
#include <stdio.h>
int main(void) {
  double v[64];
  int outside = 0;
  for (int i = 0; i < 64; ++i)
    v[i] = 0;
#pragma oss task inout(v[0]) shared(v)
#pragma omp simd
  for (int i = 0; i < 64; ++i)
    v[i] += 1;
  outside += 1;
#pragma oss task inout(v[0]) shared(v)
#pragma omp flush
  outside += 1;
#pragma oss task inout(v[0]) shared(v)
  for (int k = 0; k < 2; ++k)
#pragma omp simd
    for (int i = 0; i < 64; ++i) {
      v[i] += 1;
    }
  outside += 1;
#pragma oss taskwait
  printf("%g %d\n", v[63], outside);
}
S
  "$wrapper" --clang "$clang" -fopenmp-simd "simd.$1" -o simd && [ "$(./simd)" = "3 3" ] || fail "directives of OpenMP: $(./simd)"
  cat >refused."$1" <<'S'
void f(int *v) {
#pragma oss taskloop
#pragma omp simd
  for (int i = 0; i < 64; ++i)
    v[i] = i;
}
S
  refused ":3:1: error: the loop of '#pragma oss taskloop' cannot have a directive of OpenMP" "$wrapper" --clang "$clang" -fopenmp-simd -c "refused.$1"
}

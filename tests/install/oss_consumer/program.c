// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <weft.h>

#ifndef _OMPSS_2
#error "this file is compiled without the plugin"
#endif

int main(void) {
  int x = 0, y = 0;
#pragma oss task out(x)
  x = 21;
#pragma omp task in(x) out(y)
  y = 2 * x;
#pragma oss taskwait
  printf("weft %s: %d\n", weft_version(), y);
  return 0;
}

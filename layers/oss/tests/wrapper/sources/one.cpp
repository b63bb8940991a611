// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
int twice(int x);
int main() {
  int x = 0;
#pragma oss task out(x)
  x = twice(21);
#pragma oss taskwait
  std::printf("%d\n", x);
}

// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <weft/version.hpp>

int main() {
  int x = 0, y = 0;
#pragma oss task out(x)
  x = 21;
#pragma oss task in(x) out(y)
  y = 2 * x;
#pragma oss taskwait
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, y);
}

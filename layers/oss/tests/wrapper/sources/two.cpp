// SPDX-License-Identifier: Apache-2.0
int twice(int x) {
  int y = x;
#pragma oss task inout(y)
  y *= 2;
#pragma oss taskwait
  return y;
}

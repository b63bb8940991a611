// SPDX-License-Identifier: Apache-2.0
// With PCH it shares a precompiled header with its neighbours.
int first() {
  int x = 0;
#pragma oss task out(x)
  x = 1;
#pragma oss taskwait
  return x;
}

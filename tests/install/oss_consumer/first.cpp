// SPDX-License-Identifier: Apache-2.0
// With its neighbours it shares a precompiled header.
int first() {
  int x = 0;
#pragma oss task out(x)
  x = 1;
#pragma oss taskwait
  return x;
}

// SPDX-License-Identifier: Apache-2.0
// It has options of its own, and with PCH no part in the precompiled header of its neighbours.
int second() {
  int x = 0;
#pragma oss task out(x)
  x = 1;
#pragma oss taskwait
  return x;
}

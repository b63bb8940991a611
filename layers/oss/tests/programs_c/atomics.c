// SPDX-License-Identifier: Apache-2.0
// Each form of `atomic` in C, and its orders, where tasks race.
#include "check.h"

int main(void) {
  int count = 0, most = 0, left = 1 << 20, once = 0;
  double sum = 0, product = 1;
  unsigned char small = 0;
  float single = 0;
  for (int i = 0; i < 100; ++i) {
#pragma oss task shared(count, most, left, sum, product, small, single, once)
    for (int k = 0; k < 10; ++k) {
      int old, now, copy;
#pragma oss atomic
      count++;
#pragma oss atomic update relaxed
      sum += 0.5;
#pragma oss atomic
      small += 1;
#pragma oss atomic seq_cst
      single = single + 2;
#pragma oss atomic capture acq_rel
      old = left--;
#pragma oss atomic capture
      now = --left;
#pragma oss atomic read acquire
      copy = left;
      CHECK(old > now && now >= copy);
#pragma oss atomic write release
      most = i;
#pragma oss atomic capture
      {
        old = once;
        once = 7;
      }
      CHECK(old == 0 || old == 7);
      if (k == 0 && i < 4)
#pragma oss atomic
        product = 2 / product;
    }
  }
#pragma oss taskwait
  CHECK(count == 1000 && sum == 500 && small == 1000 % 256 && single == 2000 &&
        left == (1 << 20) - 2000 && most >= 0 && product == 1 && once == 7);
  int x = 3, y;
#pragma oss atomic
  x = 10 - x;
#pragma oss atomic
  x <<= 2;
#pragma oss atomic
  x |= 1;
#pragma oss atomic capture
  y = x *= 2;
  CHECK(x == 58 && y == 58);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Each form of `atomic` in C, and its orders, where tasks race.
#include "check.h"

// An update that a comparison decides, where tasks race.
static void races(void) {
  int least = 1000, owner = 0, owners = 0, others = 0;
  double most = 0;
  unsigned char turn = 0;
  for (int i = 1; i <= 400; ++i) {
#pragma oss task shared(least, most, owner, owners, others, turn)
    {
      const int mine = (i * 7) % 401 + 1;
      int found = -1, turned;
#pragma oss atomic compare
      least = mine < least ? mine : least;
#pragma oss atomic compare acq_rel
      if (most < mine) {
        most = mine;
      }
#pragma oss atomic compare capture seq_cst
      if (owner == 0) {
        owner = mine;
      } else {
        found = owner;
      }
#pragma oss atomic
      owners += found == -1;
#pragma oss atomic compare capture
      {
        turned = turn == i - 1;
        if (turned)
          turn = (unsigned char)i;
      }
#pragma oss atomic
      others += turned && i > 256; // compared as numbers, not modulo 256
    }
  }
#pragma oss taskwait
  CHECK(least == 2 && most == 401 && owner > 0 && owners == 1 && others == 0);
}

static int g_evaluated;
static int evaluated(int value) {
  ++g_evaluated;
  return value;
}
static void comparisons(void) {
  int x = 5, v = 0, r;
#pragma oss atomic compare
  x = x < evaluated(9) ? evaluated(9) : x;
  CHECK(x == 9 && g_evaluated == 1);
#pragma oss atomic compare update release
  x = x > 4 ? 4 : x;
  CHECK(x == 4);
#pragma oss atomic compare
  x = 7 > x ? 7 : x;
  CHECK(x == 7);
#pragma oss atomic compare relaxed
  x = 8 < x ? 8 : x;
  CHECK(x == 7);
#pragma oss atomic compare
  x = (x == evaluated(7)) ? evaluated(1) + 1 : x;
  CHECK(x == 2 && g_evaluated == 3);
#pragma oss atomic compare
  x = 3 == x ? 100 : x;
#pragma oss atomic compare acquire
  if (x == 2)
    x = 3;
  CHECK(x == 3);
#pragma oss atomic capture compare
  v = x = x < 6 ? 6 : x;
  CHECK(v == 6 && x == 6);
#pragma oss atomic capture compare
  v = x = x < 5 ? 5 : x;
  CHECK(v == 6 && x == 6);
#pragma oss atomic compare capture
  {
    v = x;
    if (x < 10) {
      x = 10;
    }
  }
  CHECK(v == 6 && x == 10);
#pragma oss atomic compare capture
  {
    if (x == 10)
      x = 11;
    v = x;
  }
  CHECK(v == 11 && x == 11);
  v = -1;
#pragma oss atomic compare capture
  if (x == 11) {
    x = 12;
  } else {
    v = x;
  }
  CHECK(v == -1 && x == 12);
#pragma oss atomic compare capture
  if (11 == x)
    x = 13;
  else
    v = x;
  CHECK(v == 12 && x == 12);
#pragma oss atomic compare capture
  {
    r = x == 12;
    if (r) {
      x = 14;
    } else {
      v = x;
    }
  }
  CHECK(r == 1 && v == 12 && x == 14);
#pragma oss atomic compare capture
  {
    r = x == 12;
    if (r) {
      x = 15;
    } else {
      v = x;
    }
  }
  CHECK(r == 0 && v == 14 && x == 14);
  // Types as in a comparison of the language, and null pointers.
  unsigned char small = 200;
#pragma oss atomic compare
  small = small < 300 ? 300 : small;
  CHECK(small == 300 % 256);
  unsigned big = 1;
#pragma oss atomic compare
  big = big < -1 ? -1 : big;
  CHECK(big == 0xffffffffu);
  int *p = NULL, *const q = &x;
#pragma oss atomic compare
  p = p == 0 ? q : p;
  CHECK(p == q);
#pragma oss atomic compare
  if (p == q)
    p = NULL;
  CHECK(!p);
  volatile float f = 1.5f;
#pragma oss atomic compare
  f = f < 2.5 ? 2.5 : f;
  CHECK(f == 2.5f);
}

// What the processor does not change at once.
struct pair {
  float a, b;
};
struct triple {
  long a, b, c;
};
static void locked(void) {
  long double sum = 0, most = 0, last = 0;
  float _Complex halves = 0;
  double _Complex wide = 0;
  struct pair both = {0, 0};
  struct triple three = {0, 0, 0};
  int turns = 0;
  for (int i = 1; i <= 100; ++i) {
#pragma oss task shared(sum, most, last, halves, wide, both, three, turns)
    for (int k = 1; k <= 10; ++k) {
      const struct pair mine = {(float)i, (float)-i};
      const struct triple here = {i, k, i + k};
      struct pair seen, before;
      struct triple found;
      long double old, now;
      float _Complex step;
      __real__ step = 0.5f;
      __imag__ step = -1;
#pragma oss atomic
      sum += 0.5L;
#pragma oss atomic relaxed
      halves += step;
#pragma oss atomic seq_cst
      wide = wide - step;
#pragma oss atomic compare acq_rel
      if (most < i) {
        most = i;
      }
#pragma oss atomic capture
      old = last++;
#pragma oss atomic read acquire
      now = last;
      CHECK(now > old);
#pragma oss atomic write release
      both = mine;
#pragma oss atomic read
      seen = both;
#pragma oss atomic capture
      {
        before = both;
        both = mine;
      }
      CHECK(seen.a == -seen.b && seen.a > 0 && before.a == -before.b && before.a > 0);
#pragma oss atomic capture
      {
        found = three;
        three = here;
      }
      CHECK(found.a + found.b == found.c);
      int turned;
#pragma oss atomic compare capture
      {
        turned = most == 1000;
        if (turned)
          most = 0;
      }
#pragma oss atomic
      turns += turned;
    }
  }
#pragma oss taskwait
  CHECK(sum == 500 && most == 100 && last == 1000 && turns == 0);
  CHECK(__real__ halves == 500 && __imag__ halves == -1000 && __real__ wide == -500 && __imag__ wide == 1000);
  volatile long double x = 3;
  long double v;
#pragma oss atomic compare
  x = x < 9 ? 9 : x;
#pragma oss atomic capture
  v = x = 10 - x;
  CHECK(v == 1 && x == 1);
}

int main(void) {
  races();
  locked();
  comparisons();
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

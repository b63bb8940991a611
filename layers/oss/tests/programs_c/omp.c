// SPDX-License-Identifier: Apache-2.0
// `#pragma omp` of OmpSs-1, by --ompss: each directive, beside those of `#pragma oss`.
#include "check.h"

struct pair {
  int x, y;
};
#pragma omp declare reduction(+ : struct pair : omp_out.x += omp_in.x, omp_out.y += omp_in.y)

#pragma omp task in(*a) inout(*b)
static void add(const int *a, int *b) {
  be_late();
  *b += *a;
}
#pragma omp task out([n]v)
void fill(int n, int *v);
void fill(int n, int *v) {
  be_late();
  for (int i = 0; i < n; ++i)
    v[i] = i;
}

static void orders(void) {
  int x = 1, y = 0, v[8];
#pragma omp task out(x) label("first") priority(1)
  {
    be_late();
    x = 20;
  }
  add(&x, &y);
  fill(8, v);
#pragma omp task in(v[0;8], x) inout(y)
  y += v[7] + x;
#pragma omp taskwait on(y)
  CHECK(y == 47);
#pragma omp task depend(in : x) depend(out : v[3]) if (0)
  v[3] = x + 1;
  CHECK(v[3] == 21);
#pragma omp taskwait
}

static void side_by_side(void) {
  long sum = 0, copies = 0, order = 0;
  struct pair both = {0, 0};
  for (int i = 1; i <= 40; ++i) {
#pragma omp task concurrent(sum)
    {
#pragma omp atomic
      sum += i;
    }
#pragma omp task commutative(copies) final(i % 2)
    {
      const long old = copies;
#pragma omp taskyield
      copies = old + i;
    }
#pragma omp task reduction(+ : both)
    {
      both.x += i;
      both.y -= i;
    }
#pragma omp task shared(order) firstprivate(i)
    {
#pragma omp critical(order)
      {
        const long old = order;
        be_late();
        order = old + i;
      }
    }
#pragma oss task shared(order)
    {
#pragma oss critical(order)
      order += 1000;
    }
  }
#pragma omp taskwait
  CHECK(sum == 820 && copies == 820 && order == 40820);
  CHECK(both.x == 820 && both.y == -820);
}

// Tasks of both pragmas order each other, also inside of each other.
static void together(void) {
  int x = 1, seen = 0;
#pragma oss task weakinout(x)
  {
#pragma omp task inout(x)
    {
      be_late();
      x *= 10;
    }
  }
#pragma omp task inout(x)
  x += 5;
#pragma oss task in(x) out(seen)
  seen = x;
#pragma oss taskwait
  CHECK(seen == 15);
}

int main(void) {
  orders();
  side_by_side();
  together();
}

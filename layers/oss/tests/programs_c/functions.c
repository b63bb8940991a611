// SPDX-License-Identifier: Apache-2.0
// Functions of C each of whose calls is a task.
#include "check.h"

#include <stdatomic.h>

#pragma oss task out(*x)
static void set(int *x, int value);

#pragma oss task inout(*x) label("add")
static void add(int *x, int value) {
  be_late();
  *x += value;
}

static void set(int *x, int value) {
  be_late();
  *x = value;
}

#pragma oss task in([n] v)inout(*sum)
void add_all(const int *v, int n, int *sum) {
  for (int i = 0; i < n; ++i)
    *sum += v[i];
}

// The last declaration counts: this one orders by both.
#pragma oss task inout(*x)
void twice(int *x, int *y);
#pragma oss task inout(*x) inout(*y)
void twice(int *x, int *y) {
  be_late();
  *x *= 2;
  *y *= 2;
}

#pragma oss task inout(m[0][0])
static void of_matrix(int n, double m[n][n]) {
  for (int i = 0; i < n; ++i)
    m[i][i] += 1;
}

static atomic_int g_leaves = 0;
#pragma oss task
static void tree(int depth) {
  if (depth == 0) {
    ++g_leaves;
  } else {
    tree(depth - 1);
    tree(depth - 1);
  }
}

#pragma oss task
static void nothing(void) { ++g_leaves; }

#pragma oss task if (0) out(*x)
static void at_once(int *x) {
  be_late();
  *x = 1;
}

// Parameters of every type that C can write, their names in every place.
typedef int number;
typedef int row_of_two[2];
struct pair {
  int a, b;
};
static void add_to(int *x, int by) { *x += by; }
#pragma oss task inout(*x) in(*b)
static void words(int *const restrict x, const _Bool *b, double _Complex z, _Complex double w, unsigned char const c) {
  *x += *b + (int)__real__ z + (int)__imag__ w + c;
}
#pragma oss task inout(*x) in((*row)[0])
static void declarators(int *restrict const x, int (*restrict const row)[2], void (*call)(int *, int),
                        void (*const calls[1])(int *, int), struct pair const p, const struct pair *restrict q,
                        __typeof__(*x) y, volatile number *v, const row_of_two w, int last __attribute__((unused))) {
  call(x, (*row)[0] + p.a + q->b);
  calls[0](x, y + *v + w[1]);
}
static void parameters(void) {
  int x = 0, rows[2] = {1, 0};
  volatile number v = 5;
  const _Bool b = 1;
  const struct pair p = {2, 3};
  const row_of_two w = {0, 6};
  void (*calls[1])(int *, int) = {add_to};
  words(&x, &b, 10.0, 20.0 * __extension__ 1.0i, 3);
  declarators(&x, &rows, add_to, calls, p, &p, 4, &v, w, 0);
#pragma oss taskwait
  CHECK(x == 34 + 1 + 2 + 3 + 4 + 5 + 6);
}

int main(void) {
  parameters();
  int x = 0, sum = 0, y = 1, v[5];
  set(&x, 2);
  add(&x, 3);
  add(&x, 4);
#pragma oss taskwait in(x)
  CHECK(x == 9);
  for (int i = 0; i < 5; ++i)
    set(&v[i], i);
#pragma oss task in({v[i], i = 0; 5}) out([5] v)
  v[0] = 10;
  add_all(v, 5, &sum);
#pragma oss taskwait
  CHECK(sum == 20);
  twice(&x, &y);
#pragma oss task in(y)shared(sum)
  sum = y;
#pragma oss taskwait
  CHECK(x == 18 && sum == 2);
  double m[3][3] = {{0}};
  of_matrix(3, m);
  of_matrix(3, m);
  tree(6);
#pragma oss taskwait
  CHECK(m[1][1] == 2 && g_leaves == 64);
  nothing();
  void (*pointer)(int *, int) = add;
  pointer(&x, 1);
#pragma oss taskwait
  CHECK(g_leaves == 65 && x == 19);
  at_once(&y);
  CHECK(y == 1);
  return 0;
}

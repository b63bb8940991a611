// SPDX-License-Identifier: Apache-2.0
// Each form of a dependence orders tasks in C: a task that came too early would see another value.
#include "check.h"

#include <stdatomic.h>

static void order_of_one_object(void) {
  int x = 0, seen[3] = {0};
#pragma oss task out(x)
  {
    be_late();
    x = 1;
  }
  for (int i = 0; i < 2; ++i) {
#pragma oss task in(x)shared(seen)
    seen[i] = x;
  }
#pragma oss task inout(x)
  {
    be_late();
    x += 10;
  }
#pragma oss task in(x)shared(seen)
  seen[2] = x;
#pragma oss taskwait
  CHECK(seen[0] == 1 && seen[1] == 1 && seen[2] == 11);
}

static void aliases(void) {
  int x = 0, y = 0, seen = 0;
#pragma oss task depend(out : x)
  {
    be_late();
    x = 2;
  }
#pragma oss task depend(in : x) depend(inout : y)
  y += x;
#pragma oss task depend(weak, in : y) depend(inout : seen)
  {
#pragma oss task depend(in : y) depend(inout : seen)
    seen = y;
  }
  for (int i = 0; i < 20; ++i) {
#pragma oss task depend(mutexinoutset : x)
    x += 1;
  }
  atomic_int added = 0;
  for (int i = 0; i < 20; ++i) {
#pragma oss task depend(inoutset : y) shared(added)
    added += y;
  }
#pragma oss taskwait
  CHECK(seen == 2 && x == 22 && added == 40);
}

static void weak_forms(void) {
  int a = 0, b = 0, seen = 0;
#pragma oss task weakout(a)
  {
#pragma oss task out(a)
    {
      be_late();
      a = 1;
    }
  }
#pragma oss task weakin(a) weakinout(b)
  {
#pragma oss task in(a)inout(b)
    {
      be_late();
      b += a;
    }
  }
#pragma oss task weakcommutative(b)
  for (int i = 0; i < 10; ++i) {
#pragma oss task commutative(b)
    b += 1;
  }
  atomic_int together = 0;
#pragma oss task weakconcurrent(b) shared(together)
  for (int i = 0; i < 10; ++i) {
#pragma oss task concurrent(b) shared(together)
    together += b;
  }
#pragma oss task in(b)shared(seen)
  seen = b;
#pragma oss taskwait
  CHECK(a == 1 && b == 11 && seen == 11 && together == 110);
}

static void commutative_and_concurrent(void) {
  long sum = 0;
  atomic_long both = 0;
  int data = 0;
  for (int i = 0; i < 100; ++i) {
#pragma oss task commutative(sum)
    {
      const long old = sum;
      if (i % 25 == 0)
        be_late();
      sum = old + i;
    }
  }
  for (int i = 0; i < 10; ++i) {
#pragma oss task concurrent(data) shared(both)
    both += i;
  }
#pragma oss task inout(data) shared(both)
  data = (int)both;
#pragma oss taskwait
  CHECK(sum == 4950 && data == 45);
}

static void elements_and_members(void) {
  struct pair {
    int first, second;
  } p = {0, 0}, *q = &p;
  int a[4][4] = {{0}}, seen = 0;
#pragma oss task out(p.first)
  {
    be_late();
    p.first = 3;
  }
#pragma oss task in(q->first)out(a[2][3])
  a[2][3] = q->first;
#pragma oss task in(a[2][3])out(seen)
  seen = a[2][3];
#pragma oss taskwait in(seen)
  CHECK(seen == 3);
#pragma oss taskwait
}

// A part by its first element, or by its bytes: both order these.
static void sections(void) {
  int v[10] = {0}, seen = 0;
  int *p = v;
  const int n = 10;
#pragma oss task out(v[2; 3])
  {
    be_late();
    for (int i = 2; i < 5; ++i)
      v[i] = i;
  }
#pragma oss task in(v[2 : 4])shared(seen)
  seen = v[2] + v[3] + v[4];
#pragma oss taskwait
  CHECK(seen == 9);
#pragma oss task out([n] p)
  {
    be_late();
    for (int i = 0; i < n; ++i)
      p[i] = 1;
  }
#pragma oss task in(v[ : ])shared(seen)
  for (int i = 0; i < n; ++i)
    seen += v[i];
#pragma oss taskwait
  CHECK(seen == 19);
  int m[3][4] = {{0}};
  int *flat = &m[0][0];
#pragma oss task out(m[1; 2][2 : 3])
  {
    be_late();
    m[1][2] = m[2][3] = 5;
  }
#pragma oss task in(([3][4] flat)[1 : ][2; 2])shared(seen, m)
  seen = m[1][2] + m[2][3];
#pragma oss taskwait
  CHECK(seen == 10);
#pragma oss task out(v[ : 0])
  {
    be_late();
    v[0] = 7;
  }
#pragma oss task in(p[0 : 3])shared(seen)
  seen = p[0];
#pragma oss taskwait
  CHECK(seen == 7);
}

static void several_items(void) {
  int v[40] = {0}, seen = 0;
  const int n = 8;
  for (int i = 0; i < n; ++i) {
#pragma oss task out(v[i])
    {
      be_late();
      v[i] = i;
    }
  }
#pragma oss task in({v[i], i = 0; n}) shared(seen)
  for (int i = 0; i < n; ++i)
    seen += v[i];
#pragma oss taskwait
  CHECK(seen == 28);
#pragma oss task out({v[i], i = 0 : 30 : 10}, {v[k], k = {1, 4}}) out(v[39])
  {
    be_late();
    v[0] = v[10] = v[20] = v[30] = v[1] = v[4] = 2;
  }
  int parts[6] = {0};
  const int at[6] = {0, 10, 20, 30, 1, 4};
  for (int i = 0; i < 6; ++i) {
#pragma oss task in(v[at[i]])shared(parts, at)
    parts[i] = v[at[i]];
  }
#pragma oss taskwait
  for (int i = 0; i < 6; ++i)
    CHECK(parts[i] == 2);
  // The triangle above the diagonal, backwards: more items than the list begins with.
  int m[8][8] = {{0}};
  for (int i = 0; i < 8; ++i)
    for (int j = i; j < 8; ++j) {
#pragma oss task out(m[i][j])
      m[i][j] = 1;
    }
  seen = 0;
#pragma oss task in({m[i][j], i = 7 : 0 : -1, j = i : 7}) shared(seen)
  for (int i = 0; i < 8; ++i)
    for (int j = i; j < 8; ++j)
      seen += m[i][j];
#pragma oss taskwait
  CHECK(seen == 36);
  // No value at all.
#pragma oss task in({v[i], i = 0; 0}) shared(seen)
  seen = 1;
#pragma oss taskwait
  CHECK(seen == 1);
}

static void waiting_for_data(void) {
  int x = 0, y = 0, z[2] = {0};
  atomic_int go = 0;
#pragma oss task out(x)
  {
    be_late();
    x = 1;
  }
#pragma oss task out(y) shared(go)
  {
    while (!go)
      weft_task_sleep_for(1000000); // one worker runs all
    y = 1;
  }
#pragma oss taskwait on(x)
  CHECK(x == 1 && y == 0); // the other task goes on
  go = 1;
#pragma oss taskwait in(y)
  CHECK(y == 1);
#pragma oss task out(z[0], z[1])
  {
    be_late();
    z[0] = z[1] = 4;
  }
#pragma oss taskwait inout({z[i], i = 0; 2})
  CHECK(z[0] == 4 && z[1] == 4);
#pragma oss taskwait
}

static void releasing(void) {
  int x = 0, y = 0, v[4] = {0};
  atomic_int seen = 0;
#pragma oss task out(x) out(y) shared(seen)
  {
    x = 1;
#pragma oss release out(x)
    while (!seen) // the task behind runs before this one ends
      weft_task_sleep_for(1000000);
    y = 2;
  }
#pragma oss task in(x)shared(seen)
  seen = x;
#pragma oss task in(y)
  CHECK(y == 2);
#pragma oss task out({v[i], i = 0; 4})
  {
    v[1] = 1;
#pragma oss release out({v[i], i = 0; 4})
  }
#pragma oss taskwait
  CHECK(seen == 1 && v[1] == 1);
}

// The types of an iterator's values: a count has a sign, and the values of a list have the type that all of them convert to.
static void types_of_iterators(void) {
  static char small[4];
  char *base = small; // nothing reads or writes what is far behind
  const unsigned first = 2;
  int none = 0, seen = 0;
  none -= 1;
#pragma oss task in({base[i], i = first; none}) shared(seen)
  seen = 1;
#pragma oss task in({base[i], i = first; 1}) in({base[i], i = 0; (unsigned char)2})
  CHECK(none == -1);
#pragma oss taskwait
  CHECK(seen == 1);
  const long far = 0x100000001L;
  seen = 0;
#pragma oss task out({base[i], i = {1, far}}) shared(seen)
  {
    be_late();
    seen = 2;
  }
#pragma oss task in(base[far]) shared(seen)
  CHECK(seen == 2);
#pragma oss taskwait
  int x = 0, y = 0;
#pragma oss task out({*p, p = {&x, &y}}) shared(x, y)
  {
    be_late();
    x = y = 1;
  }
#pragma oss task in(y)
  CHECK(y == 1);
#pragma oss taskwait
}

int main(void) {
  types_of_iterators();
  order_of_one_object();
  aliases();
  weak_forms();
  commutative_and_concurrent();
  elements_and_members();
  sections();
  several_items();
  waiting_for_data();
  releasing();
  return 0;
}

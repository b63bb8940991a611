// SPDX-License-Identifier: Apache-2.0
// What a task of C copies, what it shares, and its options.
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static int g_number = 1;
static int g_array[3] = {1, 2, 3};
static int *g_pointer = &g_array[0];

static void locals_are_copied(void) {
  int x = 1, v[3] = {1, 2, 3};
  double d = 1.5;
  _Bool b = true;
  struct {
    int a[2];
    char c;
  } s = {{1, 2}, 'c'};
  double _Complex z = 2.0;
  const char *text = "text";
  atomic_int right = 0;
  atomic_int begun = 0;
#pragma oss task shared(right, begun)
  {
    while (!begun)
      be_late();
    right = x == 1 && v[2] == 3 && d == 1.5 && b && s.a[1] == 2 && s.c == 'c' && z == 2.0 &&
            !strcmp(text, "text");
    x = v[0] = 99; // its own
  }
  x = v[2] = s.a[1] = 0;
  d = 0;
  b = false;
  z = 0;
  text = "";
  begun = 1;
#pragma oss taskwait
  CHECK(right && x == 0 && v[0] == 1);
}

static void globals_are_shared(void) {
  static int kept = 1;
#pragma oss task
  {
    g_number = 5;
    kept = 6;
    g_array[1] = 7;
  }
#pragma oss taskwait
  CHECK(g_number == 5 && kept == 6 && g_array[1] == 7);
}

static void clauses(void) {
  int x = 1, y = 1, z = 1;
  atomic_int begun = 0;
#pragma oss task firstprivate(g_number, g_array, x) private(y) shared(z, begun)
  {
    while (!begun)
      be_late();
    y = 3;
    z = g_number + g_array[0] + x + y;
    g_number = g_array[0] = x = 0;
  }
  g_number = 50;
  g_array[0] = 60;
  x = 70;
  begun = 1;
#pragma oss taskwait
  CHECK(z == 5 + 1 + 1 + 3 && y == 1 && g_number == 50 && g_array[0] == 60 && x == 70);
  g_array[0] = 1;
#pragma oss task default(shared)
  {
    be_late();
    x = y = 8;
  }
#pragma oss taskwait
  CHECK(x == 8 && y == 8);
#pragma oss task default(firstprivate) shared(z)
  {
    z = x + y;
    x = 0;
  }
#pragma oss taskwait
  CHECK(z == 16 && x == 8);
#pragma oss task default(none) firstprivate(x) shared(z) in(y)
  z = x + y + 1;
#pragma oss taskwait
  CHECK(z == 17);
}

// The rules for variables of dependences: a pointer and an index are copied, also global ones; an array is not.
static void items(void) {
  int v[4] = {0, 0, 0, 0}, i = 2;
  int *p = v;
  static int index = 1;
  atomic_int begun = 0;
#pragma oss task out(*p) out(p[i]) out(v[index]) shared(begun)
  {
    while (!begun)
      be_late();
    *p = 1;
    p[i] = 2;
    v[index] = 3;
  }
  p = 0;
  i = 0;
  index = 3;
  begun = 1;
#pragma oss taskwait
  CHECK(v[0] == 1 && v[1] == 3 && v[2] == 2 && v[3] == 0);
  begun = 0;
  g_pointer = v;
#pragma oss task out(g_pointer[1]) shared(begun)
  {
    while (!begun)
      be_late();
    g_pointer[1] = 9;
  }
  g_pointer = g_array;
  begun = 1;
#pragma oss taskwait
  CHECK(v[1] == 9);
  // A plain pointer is data itself.
  p = 0;
#pragma oss task out(p) shared(v)
  {
    be_late();
    p = &v[1];
  }
#pragma oss task in(p)out(i)
  i = *p;
#pragma oss taskwait
  CHECK(i == 9);
}

static void arrays_of_run_time(int n, int m) {
  double v[n], w[n][m];
  for (int i = 0; i < n; ++i) {
    v[i] = i;
    for (int j = 0; j < m; ++j)
      w[i][j] = i * m + j;
  }
  double(*q)[m] = w;
  double sum = 0, all = 0;
  char c[n + 3];
  memset(c, 7, sizeof c);
  atomic_int begun = 0;
#pragma oss task firstprivate(w) shared(sum, begun)
  {
    while (!begun)
      be_late();
    for (int i = 0; i < n; ++i)
      sum += v[i] + w[i][m - 1] + c[n + 2] + (double)(sizeof w / sizeof w[0]);
    v[0] = w[0][0] = -1;
  }
  for (int i = 0; i < n; ++i)
    v[i] = w[i][m - 1] = 100;
  memset(c, 0, sizeof c);
  begun = 1;
#pragma oss taskwait
  double right = 0;
  for (int i = 0; i < n; ++i)
    right += i + i * m + m - 1 + 7 + n;
  CHECK(sum == right && v[0] == 100 && w[0][0] == 0);
#pragma oss task out(v[0; n]) out(w[1][2])
  {
    be_late();
    v[n - 1] = 3;
    w[1][2] = 4;
  }
#pragma oss task in([n] q, v)out(all)
  all = v[n - 1];
#pragma oss task in(q[1][2])inout(all)
  all += q[1][2];
#pragma oss taskwait
  CHECK(v[n - 1] == 3 && w[1][2] == 4 && all == 7);
}

// Copies of a task live until its children are complete.
static void nested(void) {
  atomic_int sum = 0;
  for (int i = 0; i < 50; ++i) {
    int x = i, v[2] = {i, i};
#pragma oss task shared(sum)
    {
#pragma oss task shared(x, v, sum)
      {
        if (i % 10 == 0)
          be_late();
        x += v[1];
        sum += x;
#pragma oss task shared(sum)
        sum += v[0] - i;
      }
    }
  }
#pragma oss taskwait
  CHECK(sum == 2 * 49 * 50 / 2);
}

// More than a task's block holds.
static void large(void) {
  struct {
    char c[5000];
  } s;
  memset(&s, 3, sizeof s);
  int sum = 0;
#pragma oss task shared(sum)
  for (int i = 0; i < 5000; ++i)
    sum += s.c[i];
  memset(&s, 0, sizeof s);
#pragma oss taskwait
  CHECK(sum == 15000);
}

static void options(int yes, int no) {
  int x = 0;
#pragma oss task if (no) shared(x)
  {
    be_late();
    x = 1;
  }
  CHECK(x == 1);
#pragma oss task if (yes) shared(x)
  x = 2;
#pragma oss taskwait
  CHECK(x == 2);
#pragma oss task final(yes) shared(x)
  {
    CHECK(weft_task_in_final());
#pragma oss task shared(x)
    {
      be_late();
      x = 3;
    }
    CHECK(x == 3);
  }
#pragma oss task final(no) shared(x)
  CHECK(!weft_task_in_final());
  int right = 0;
#pragma oss task label("named") priority(3) cost(17) shared(right)
  right = weft_task_cost() == 17 && !strcmp(weft_task_label(), "named");
#pragma oss taskwait
  CHECK(x == 3 && right);
  // Without the clause the task behind may begin before the child has ended.
#pragma oss task out(x) wait
  {
#pragma oss task shared(x)
    {
      be_late();
      x = 4;
    }
  }
#pragma oss task in(x)shared(right)
  right = x;
#pragma oss taskwait
  CHECK(right == 4);
}

static void note(int *at, int value) { *at = *at * 10 + value; }
static void onready(void) {
  int x = 0, order = 0, *o = &order, digit = 1;
#pragma oss task out(x)
  {
    be_late();
    x = 1;
  }
#pragma oss task in(x)onready(note(o, digit++))
  note(o, digit);
  digit = 7;
#pragma oss taskwait
  CHECK(order == 12);
}

static void critical(void) {
  long sum = 0, other = 0;
  for (int i = 0; i < 200; ++i) {
#pragma oss task shared(sum, other)
    {
#pragma oss critical
      {
        const long old = sum;
        if (i % 50 == 0)
          be_late();
        sum = old + 1;
      }
#pragma oss critical(name)
      other += 1;
    }
  }
#pragma oss taskwait
#pragma oss taskyield
  CHECK(sum == 200 && other == 200);
}

static int fibonacci(int n) {
  if (n < 2)
    return n;
  int a, b;
#pragma oss task shared(a)
  a = fibonacci(n - 1);
#pragma oss task shared(b)
  b = fibonacci(n - 2);
#pragma oss taskwait
  return a + b;
}

#define AS_TASK(...) _Pragma("oss task shared(x)") __VA_ARGS__
static void statements(void) {
  int x = 0;
  AS_TASK(x = 3;)
#pragma oss taskwait
  if (x == 3)
#pragma oss task shared(x)
    for (int i = 0; i < 4; ++i) {
      if (i == 2)
        continue;
      x += i;
    }
  else
    x = 100;
#pragma oss taskwait
#pragma oss task shared(x)
  switch (x) {
  case 7:
    x = 8;
    break;
  default:
    x = 0;
  }
#pragma oss taskwait
#pragma oss task shared(x)
  {
    static int times = 0;
    struct local {
      int a;
    } l = {++times};
    x += l.a;
  }
#pragma oss taskwait
#pragma oss task
  ;
#pragma oss taskwait
  CHECK(x == 9);
}

// Pragmas of the compiler, attributes and labels belong to the statement behind them, and what follows that is outside of the task.
static void statements_with_prefixes(void) {
  int n = 0, outside = 0;
#pragma oss task inout(n)
#pragma clang loop unroll(disable) interleave(disable)
  for (int i = 0; i < 4; ++i)
    n += 1;
  outside += 1;
#pragma oss task inout(n)
#pragma unroll 2
  for (int i = 0; i < 4; ++i) {
    n += 1;
  }
  outside += 1;
#pragma oss task inout(n)
#pragma GCC unroll 2
  while (n < 10)
    n += 1;
  outside += 1;
#pragma oss task inout(n)
again: {
  if (++n < 20)
    goto again;
}
  outside += 1;
#pragma oss task inout(n)
  __attribute__((nomerge)) if (n == 20) {
    be_late();
    n += 1;
  }
  outside += 1;
#pragma oss task inout(n)
  switch (n)
  case 21: {
    n += 1;
  }
  outside += 1;
#pragma oss task inout(n)
  if (n > 0)
#pragma nounroll
    for (int i = 0; i < 2; ++i) {
      n += 1;
    }
  outside += 1;
#pragma oss task inout(n)
  switch (n)
  default:
#pragma nounroll
    for (int i = 0; i < 2; ++i) {
      n += 1;
    }
  outside += 1;
#pragma oss task inout(n)
  if (n == 26)
    n += 1;
  outside += 1;
#pragma oss taskwait
  CHECK(n == 27 && outside == 9);
}

// The same in front of a loop that is divided.
static void loops_with_prefixes(void) {
  int n = 0, outside = 0;
#pragma oss taskloop shared(n) grainsize(5)
#pragma unroll 2
  for (int i = 0; i < 20; ++i)
#pragma oss atomic
    n += 1;
  outside += 1;
#pragma oss taskloop for shared(n) grainsize(10)
here:
#pragma clang loop unroll(disable)
  for (int i = 0; i < 20; i += 2) {
#pragma nounroll
    for (int j = 0; j < 2; ++j)
#pragma oss atomic
      n += 1;
  }
  outside += 1;
#pragma oss taskloop collapse(2) shared(n)
  __attribute__((nomerge)) for (int i = 0; i < 4; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 5; ++j)
#pragma oss atomic
      n += 1;
  outside += 1;
#pragma oss taskwait
#pragma oss taskiter inout(n)
#pragma nounroll
  for (int i = 0; i < 20; ++i)
#pragma oss task inout(n)
    n += 1;
  outside += 1;
  int asked = 0;
#pragma oss taskiter shared(asked) inout(n)
#pragma nounroll
  while (++asked <= 6)
#pragma oss task inout(n)
    n += 1;
  outside += 1;
#pragma oss taskwait
  CHECK(n == 86 && outside == 5);
}

// A copied array is aligned as the variable is, whatever is in front of it.
static void aligned(int n) {
  char a = 1, b = 2;
  double v[4] = {1, 2, 3, 4}, w[4] = {0};
  for (int i = 0; i < 2; ++i) {
#pragma oss task shared(w)
    for (int k = 0; k < 4; ++k)
      w[k] = w[k] * n + v[k] * a + b;
#pragma oss taskwait
#pragma oss task firstprivate(b, v) shared(w) in(a)
    {
      CHECK((unsigned long)(char *volatile)v % 16 == 0);
      for (int k = 0; k < 4; ++k)
        w[k] += v[k];
    }
#pragma oss taskwait
  }
  CHECK(w[0] == 12 && w[3] == 30);
}

// A private variable is there until the children are complete; an index that is static in a statement is copied.
static int g_private = 4;
static void private_variables(int n) {
  int seen = 0, row[40] = {0}, of_run_time[n];
  _Bool truth = false;
  struct {
    int a, b;
  } s = {1, 2};
  of_run_time[0] = 1;
#pragma oss task private(row, of_run_time, s, truth, g_private) shared(seen)
  {
    for (int i = 0; i < 40; ++i)
      row[i] = 1;
    of_run_time[n - 1] = s.b = 10;
    g_private = 100;
    truth = true;
#pragma oss task shared(row, of_run_time, s, truth, g_private, seen)
    {
      be_late();
      for (int i = 0; i < 40; ++i)
        seen += row[i];
      seen += of_run_time[n - 1] + s.b + truth + g_private;
    }
  }
#pragma oss taskwait
  CHECK(seen == 40 + 10 + 10 + 1 + (g_private == 4 ? 100 : 0) && row[0] == 0 && s.b == 2 && !truth);
}
static void not_parsed_yet(void) {
  int v[4] = {0};
#pragma oss task inout(v)
  {
    static int at = 1;
    static int *pointer;
    pointer = v + 2;
#pragma oss task inout(v[at], pointer[0]) shared(v)
    {
      be_late();
      v[at] = 7;
      pointer[0] = 8;
    }
    at = 0;
    pointer = v + 3;
#pragma oss taskwait
  }
#pragma oss taskwait
  CHECK(v[0] == 0 && v[1] == 7 && v[2] == 8 && v[3] == 0);
}

int main(void) {
  private_variables(50);
  not_parsed_yet();
  aligned(2);
  locals_are_copied();
  globals_are_shared();
  clauses();
  items();
  arrays_of_run_time(4, 5);
  arrays_of_run_time(31, 7);
  nested();
  large();
  options(1, 0);
  onready();
  critical();
  CHECK(fibonacci(15) == 610);
  statements();
  statements_with_prefixes();
  loops_with_prefixes();
  return 0;
}

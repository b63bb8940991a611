// SPDX-License-Identifier: Apache-2.0
// The annotations that papers print, as programs whose output is known. talpf-2023: a pointer that is an item, and one that is null;
// parts of arrays. ddast-2017: the tasks of a wave, and two waves. nanos6-2021 prints no pragma; its first figure has tasks within
// tasks that touch one array, which is written here with weak items.
#include "check.h"

enum { k_n = 40 };

// An item that is a pointer orders by the pointer, not by what it points to.
static void pointer_as_item(void) {
  int a = 0, seen = -1;
  int *p = &a;
#pragma oss task out(p)
  {
    be_late();
    a = 1; // of the copy that the task has: only p is shared
    *p = 7;
  }
#pragma oss task in(p)shared(seen)
  seen = *p;
#pragma oss taskwait
  CHECK(seen == 7 && a == 7);
}

// "If the pointer is NULL, the dependency is ignored."
static void null_items(void) {
  int a = 0, *none = 0, *some = &a;
  int ran = 0;
#pragma oss task inout(*some)
  {
    be_late();
    *some = 1;
  }
#pragma oss task in(*none) inout(*some) shared(ran)
  ran = 1 + (none == 0) + *some;
#pragma oss task out(*none) shared(ran) in(*some)
  ran += none == 0;
#pragma oss taskwait on(*none)
#pragma oss taskwait
  CHECK(ran == 4);
}

// A task orders its children behind those of earlier tasks, item by item, and waits for none itself.
static void tasks_within_tasks(void) {
  int a[2] = {0, 0};
#pragma oss task inout(a[0])
  {
    be_late();
    a[0] = 1;
  }
#pragma oss task weakinout(a[0], a[1])
  {
#pragma oss task inout(a[0])
    a[0] = 2 * a[0] + 1;
#pragma oss task out(a[1])
    a[1] = 5;
  }
#pragma oss task weakin(a[0]) weakinout(a[1])
  {
#pragma oss task in(a[0]) inout(a[1])
    a[1] += a[0];
  }
#pragma oss task inout(a[1])
  a[1] *= 10;
#pragma oss taskwait
  CHECK(a[0] == 3 && a[1] == 80);
}

// a[lower:upper] ends with upper, a[lower;size] has size elements.
static void parts(int lower, int upper, int size) {
  int a[k_n] = {0};
#pragma oss task inout(a[lower : upper])
  {
    be_late();
    for (int i = lower; i <= upper; ++i)
      a[i] += 1;
  }
#pragma oss task out(a[lower; size])
  for (int i = lower; i < lower + size; ++i)
    a[i] = 2 * a[i] + 3;
#pragma oss taskwait on(a[lower])
  for (int i = 0; i < k_n; ++i) {
    const int first = i >= lower && i <= upper, second = i >= lower && i < lower + size;
    CHECK(a[i] == (second ? 2 * first + 3 : first));
  }
}

static void propagate(const int *before, int *a, int *b) {
  *a += *before;
  *b = *a * 10;
}
static void correct(const int *before, int *b) { *b += *before; }

// propagate follows propagate by a, correct follows both by b.
static void wave(int *a, int *b, int n) {
  for (int i = 1; i < n; i++) {
#pragma oss task in(a[i - 1]) inout(a[i]) out(b[i])
    propagate(&a[i - 1], &a[i], &b[i]);
#pragma oss task in(b[i - 1]) inout(b[i])
    correct(&b[i - 1], &b[i]);
  }
}

static void two_waves(void) {
  static int a[k_n], b[k_n];
  for (int i = 0; i < k_n; i++) {
#pragma oss task inout(a[i])
    a[i] = i * i;
  }
  for (int i = 0; i < k_n; i++) {
#pragma oss task in(a[i])out(b[i])
    b[i] = a[i] + 1;
  }
#pragma oss taskwait
  for (int i = 0; i < k_n; i++)
    CHECK(b[i] == i * i + 1);
}

int main(void) {
  pointer_as_item();
  null_items();
  tasks_within_tasks();
  parts(3, 12, 10);
  parts(0, 5, 20);
  parts(8, 30, 1);
  int a[k_n], b[k_n], sum = 0, total = 0;
  for (int i = 0; i < k_n; ++i)
    a[i] = 1, b[i] = 0;
  wave(a, b, k_n);
#pragma oss taskwait
  for (int i = 1; i < k_n; ++i) {
    sum = i + 1; // of i + 1 ones
    total += 10 * sum;
    CHECK(a[i] == sum && b[i] == total);
  }
  two_waves();
  return 0;
}

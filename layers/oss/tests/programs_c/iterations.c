// SPDX-License-Identifier: Apache-2.0
// taskiter in C: the tasks of one iteration, run in all of them.
#include "check.h"

#include <stdbool.h>
#include <string.h>

static void once_for_all(void) {
  int created = 0, x = 0, order[40] = {0}, n = 0, runs = 0;
#pragma oss taskiter label("sweeps") inout(x) shared(created, runs, order, n) wait
  for (int k = 0; k < 20; ++k) {
    ++created;
    CHECK(k == 0); // the body does not learn which iteration runs
    for (int b = 0; b < 2; ++b) {
#pragma oss task inout(x) shared(runs, order, n)
      {
        ++runs;
        order[n++] = b;
        ++x;
      }
    }
    if (created > 0)
      continue;
    created = 100;
  }
#pragma oss taskwait in(x)
  CHECK(x == 40 && created == 1);
#pragma oss taskwait
  CHECK(runs == 40);
  for (int i = 0; i < 40; ++i)
    CHECK(order[i] == i % 2);
}

// Heads of each kind, and a loop without iterations.
static void heads(long first, unsigned char step) {
  int x = 0;
  short k = -1;
#pragma oss taskiter inout(x)
  for (k = 100; k > 1; k -= step) {
    CHECK(k == 100);
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskiter inout(x)
  for (unsigned long long i = (unsigned long long)first; 7u != i; i++) {
    CHECK(i == 3 && sizeof i == 8);
#pragma oss task inout(x)
    x += 1000;
  }
#pragma oss taskiter inout(x)
  for (long i = first; i < 3; ++i)
    CHECK(0);
#pragma oss taskwait
  CHECK(x == 4033 && k == -1);
}

// unroll: as many of the asked for as divide the number; update: a recording for each part.
static void parts(void) {
  int x = 0, created = 0;
  for (int unroll = 1; unroll < 60; unroll = unroll * 2 + 1) {
    x = created = 0;
#pragma oss taskiter unroll(unroll) inout(x) shared(created)
    for (int k = 0; k < 20; k++) {
      ++created;
#pragma oss task inout(x)
      ++x;
    }
#pragma oss taskwait
    CHECK(x == 20 && created == (unroll == 1    ? 1
                                 : unroll == 3  ? 2
                                 : unroll == 7  ? 5
                                 : unroll == 15 ? 10
                                                : 20));
  }
  x = created = 0;
#pragma oss taskiter update(6) weakinout(x) shared(created)
  for (long k = 20; k > 0; k--) {
    ++created;
#pragma oss task inout(x)
    ++x;
  }
#pragma oss task inout(x)
  x *= 2;
#pragma oss taskwait
  CHECK(x == 40 && created == 4);
  x = created = 0;
#pragma oss taskiter update(6) unroll(3) inout(x) shared(created) // 6 = 2 * 3, and 2 = 1 * 2
  for (int k = 0; k < 8; ++k) {
    ++created;
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskwait
  CHECK(x == 8 && created == 5);
}

// A condition is asked once for each answer that it gives.
static void conditions(void) {
  int x = 0, created = 0, asked = 0;
#pragma oss taskiter inout(x) shared(created, asked)
  while (++asked <= 7) {
    ++created;
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskwait
  CHECK(x == 7 && asked == 8 && created == 1);
  for (int update = 1; update < 10; update += 2) {
    x = created = asked = 0;
#pragma oss taskiter unroll(3) update(update) inout(x) shared(created, asked) cost(7) priority(1)
    while (asked++ < 7) {
      ++created;
#pragma oss task inout(x)
      ++x;
    }
#pragma oss taskwait
    CHECK(x == 7 && asked == 8 && created == (7 + update - 1) / update);
  }
  // The variables of the condition are copies, too; a pointer is no number.
  const char *rest = "four";
  asked = 3;
#pragma oss taskiter inout(x) firstprivate(asked)
  while (asked-- > 0) {
#pragma oss task inout(x)
    x += 10;
  }
#pragma oss taskiter inout(x)
  while (*rest ? rest++ : 0) {
#pragma oss task inout(x)
    x += 100;
  }
#pragma oss taskiter inout(x) shared(created)
  while (asked == 4)
    created = 1000;
#pragma oss taskwait
  CHECK(x == 437 && asked == 3 && created == 1);
}

// In place: `final` and `if`; each iteration has tasks of its own.
static void in_place(bool no) {
  int x = 0, created = 0, asked = 0;
#pragma oss taskiter final(true) shared(x, created)
  for (int k = 0; k < 5; ++k) {
    ++created;
#pragma oss task inout(x)
    ++x;
    CHECK(x == created);
  }
#pragma oss taskwait
#pragma oss taskiter if (no) shared(x, asked)
  while (asked++ < 5) {
#pragma oss task inout(x)
    ++x;
  }
  CHECK(asked == 6);
#pragma oss taskwait
  CHECK(x == 10 && created == 5);
}

static void when_ready(void) {
  bool go = false;
  int asked = 0, x = 0, of_tasks = 0, of_loops = 0, iterations = 0;
#pragma oss taskiter onready(++asked) shared(go, asked)
  for (int k = 0; k < 2; ++k) {
#pragma oss task shared(go)
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {
#pragma oss taskyield
    }
  }
  __atomic_store_n(&go, true, __ATOMIC_RELEASE); // without accesses nothing has waited for it
#pragma oss taskwait
  CHECK(asked == 1);
  // So does what it records, in each round.
#pragma oss taskiter inout(x) onready(asked += 10) shared(asked) shared(of_tasks, of_loops, iterations)
  for (int k = 0; k < 3; ++k) {
#pragma oss task inout(x) onready(++of_tasks) shared(of_tasks)
    x += of_tasks == x / 2 + 1 ? 1 : 100;
#pragma oss task for inout(x) onready(++of_loops) shared(of_loops, iterations) chunksize(1)
    for (int i = 0; i < 5; ++i)
      __atomic_fetch_add(&iterations, of_loops, __ATOMIC_RELAXED);
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskwait
  CHECK(asked == 11 && x == 6 && of_tasks == 3 && of_loops == 3);
  CHECK(iterations == 5 * (1 + 2 + 3));
}

// Private and copied variables are of the whole, arrays of run time among them.
static int g_step = 3;
static void variables(int n) {
  int mine = 3, own = 0, sum = 0, table[n], *first = table;
  for (int i = 0; i < n; ++i)
    table[i] = i;
#pragma oss taskiter inout(sum) firstprivate(mine, g_step) private(own) default(none) shared(n)        \
    firstprivate(table)
  for (int k = 0; k < 4; ++k) {
    own = mine;
#pragma oss task inout(sum) firstprivate(own, g_step, table) firstprivate(n)
    for (int i = 0; i < n; ++i)
      sum += own * table[i] * g_step++;
  }
  // What the caller does with its own changes nothing.
  memset(table, 0, sizeof table);
  mine = g_step = 0;
#pragma oss taskwait
  int expected = 0, step = 3;
  for (int k = 0; k < 4; ++k) // the task has its copy once, and keeps it
    for (int i = 0; i < n; ++i)
      expected += 3 * i * step++;
  CHECK(sum == expected && g_step == 0);
  g_step = 5;
#pragma oss taskiter inout(first[0]) in({first[i], i = 1; n - 1})
  for (int k = 0; k < 4; ++k) {
#pragma oss task inout(first[0])
    first[0] += g_step;
  }
#pragma oss taskwait
  CHECK(table[0] == 20);
}

// Tasks of a taskiter within an iteration, from one to the next, and towards those around it.
static void ordered(int n) {
  double now[n], next[n];
  for (int i = 0; i < n; ++i)
    now[i] = next[i] = i == n / 2 ? 1024 : 0;
#pragma oss task inout({now[i], i = 0; n})
  {
    be_late();
    now[1] += 64;
  }
#pragma oss taskiter weakinout({now[i], i = 0; n}) inout(next[0]) shared(now, next)
  for (int k = 0; k < 6; ++k) {
    for (int i = 1; i < n - 1; ++i) {
#pragma oss task in(now[i - 1], now[i], now[i + 1]) out(next[i]) shared(now, next)
      next[i] = (now[i - 1] + now[i + 1]) / 2;
    }
    for (int i = 1; i < n - 1; ++i) {
#pragma oss task in(next[i]) out(now[i]) shared(now, next)
      now[i] = next[i];
    }
  }
  double copy[n];
#pragma oss task in({now[i], i = 0; n}) shared(copy)
  memcpy(copy, now, sizeof now);
#pragma oss taskwait
  double plain[n], other[n];
  for (int i = 0; i < n; ++i)
    plain[i] = other[i] = i == n / 2 ? 1024 : i == 1 ? 64 : 0;
  for (int k = 0; k < 6; ++k) {
    for (int i = 1; i < n - 1; ++i)
      other[i] = (plain[i - 1] + plain[i + 1]) / 2;
    memcpy(plain + 1, other + 1, (size_t)(n - 2) * sizeof *plain);
  }
  CHECK(memcmp(copy, plain, sizeof plain) == 0);
}

// Loops, sections and task functions are recorded as well.
#pragma oss task inout(v[0;n])
static void twice(int *v, int n) {
  for (int i = 0; i < n; ++i)
    v[i] *= 2;
}
static void of_all_kinds(void) {
  int v[64];
  for (int i = 0; i < 64; ++i)
    v[i] = 1;
#pragma oss taskiter inout(v[0;64])
  for (int k = 0; k < 3; ++k) {
    twice(v, 64);
#pragma oss task for inout(v[0;64]) chunksize(7)
    for (int i = 0; i < 64; ++i)
      v[i] += i;
#pragma oss taskloop grainsize(64) inout(v[i;64])
    for (int i = 0; i < 64; ++i)
      v[i] -= i;
  }
#pragma oss taskwait
  for (int i = 0; i < 64; ++i)
    CHECK(v[i] == 8);
}

// What the tasks reduce is there at the end.
static void reduced(void) {
  int sum = 0;
  long most[4] = {0, 9, 0, 0};
#pragma oss taskiter reduction(+ : sum)
  for (int k = 0; k < 10; ++k) {
#pragma oss task reduction(+ : sum)
    sum += 3;
#pragma oss task reduction(+ : sum)
    sum += 1;
  }
#pragma oss taskiter weakreduction(+ : sum) default(none)
  for (int k = 0; k < 10; ++k) {
#pragma oss task reduction(+ : sum)
    sum += 1;
  }
#pragma oss taskiter inout(most[0;4]) update(4)
  for (int k = 0; k < 10; ++k) {
    for (int i = 0; i < 4; ++i) {
#pragma oss task reduction(max : most[0;4])
      most[i] = most[i] > i ? most[i] : i;
    }
#pragma oss task inout(most[0;4])
    ++most[3];
  }
#pragma oss taskwait
  CHECK(sum == 50);
  CHECK(most[0] == 0 && most[1] == 9 && most[2] == 2 && most[3] == 13);
}

int main(void) {
  once_for_all();
  heads(3, 3);
  parts();
  conditions();
  in_place(false);
  when_ready();
  variables(11);
  ordered(24);
  of_all_kinds();
  reduced();
}

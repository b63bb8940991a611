// SPDX-License-Identifier: Apache-2.0
// Each directive of `#pragma omp` of OmpSs-1 with each of its clauses.
#include "common.h"

enum { k_n = 8 };

// What a task does with data, and which of two tasks comes first.
static void accesses(void) {
  int x = 0, y = 0, seen = 0, both = 0;
#pragma omp task out(x)
  {
    be_late();
    x = 1;
  }
#pragma omp task in(x) depend(out : y)
  {
    be_late();
    y = x + 1;
  }
#pragma omp task inout(x, y)
  {
    x += y;
    y = 0;
  }
#pragma omp task in(x, y) shared(seen)
  seen = x * 10 + y;
#pragma omp taskwait
  CHECK(seen == 30);
  for (int i = 0; i < 2; ++i) {
#pragma omp task concurrent(both) shared(seen)
    {
      __atomic_fetch_add(&both, 1, __ATOMIC_ACQ_REL);
      while (load(&both) < 2) { // hangs if one waits for the other
#pragma omp taskyield
      }
    }
  }
  for (int i = 0; i < k_n; ++i) {
#pragma omp task commutative(both)
    {
      const int old = both;
      be_late();
      both = old + 1;
    }
  }
#pragma omp task in(both) shared(seen)
  seen = both;
#pragma omp taskwait
  CHECK(seen == 2 + k_n);
  // Without `commutative` the first of these would have to run first.
  int gate = 0, second = 0;
#pragma omp task out(gate) shared(second)
  {
    wait_for(&second);
    gate = 1;
  }
#pragma omp task commutative(x) in(gate)
  x = 5;
#pragma omp task commutative(x) shared(second)
  add(&second);
#pragma omp taskwait
  CHECK(x == 5);
}

static void waits(void) {
  int x = 0, y = 0, waited = 0;
#define WAIT(CLAUSE)                                                                               \
  do {                                                                                             \
    x = y = waited = 0;                                                                            \
    PRAGMA(omp task inout(x) shared(y)) {                                                          \
      be_late();                                                                                   \
      add(&y);                                                                                     \
    }                                                                                              \
    PRAGMA(omp task shared(waited)) wait_for(&waited); /* no wait for x waits for this one */      \
    PRAGMA(omp taskwait CLAUSE)                                                                    \
    CHECK(load(&y) == 1);                                                                          \
    add(&waited);                                                                                  \
    PRAGMA(omp taskwait)                                                                           \
  } while (0)
  WAIT(in(x));
  WAIT(out(x));
  WAIT(inout(x));
  WAIT(depend(in : x));
  WAIT(on(x));
}

static void data(void) {
  int own = 5, copy = 7, same = 0, seen = 0;
#pragma omp task private(own) firstprivate(copy) shared(same)
  {
    be_late();
    own = copy;
    same = own + 1;
  }
  own = 6;
  copy = 8;
#pragma omp taskwait
  CHECK(own == 6 && copy == 8 && same == 8);
#pragma omp task default(shared)
  {
    be_late();
    seen = ++same;
  }
#pragma omp taskwait
  CHECK(same == 9 && seen == 9);
#pragma omp task default(none) firstprivate(copy) shared(seen)
  seen = copy;
#pragma omp taskwait
  CHECK(seen == 8);
}

static void options(void) {
  int seen = 0, later = 0, asked = 0, sum = 100;
#pragma omp task if (later) shared(seen)
  {
    be_late();
    seen = 1;
  }
  CHECK(seen == 1);
#pragma omp task final(seen > 0) shared(seen)
  {
    int inside = 0;
#pragma omp task shared(inside)
    inside = 1;
    CHECK(inside == 1 && weft_task_in_final());
    seen = 2;
  }
#pragma omp taskwait
  CHECK(seen == 2);
#pragma omp task label("a cell") priority(++asked) shared(seen)
  seen = strcmp(weft_task_label(), "a cell");
#pragma omp taskwait
  CHECK(seen == 0 && asked > 0);
  for (int i = 0; i < k_n; ++i) {
#pragma omp task reduction(+ : sum)
    {
      const int old = sum;
      be_late();
      sum = old + i;
    }
  }
#pragma omp taskwait
  CHECK(sum == 100 + k_n * (k_n - 1) / 2);
}

// Each form and order of `atomic`, by tasks that would lose something without it.
static void atomics(void) {
  int x = 0, old = 0, most = 0, held = 0;
  for (int i = 1; i <= k_n; ++i) {
#pragma omp task shared(x, most, held)
    {
      for (int k = 0; k < 1000; ++k) {
        int mine;
#pragma omp atomic
        x += 1;
#pragma omp atomic update relaxed
        x -= 1;
#pragma omp atomic capture acq_rel
        mine = x++;
#pragma omp atomic read acquire
        mine = x;
        CHECK(mine > 0);
#pragma omp atomic compare seq_cst
        most = most < i * 1000 + k ? i * 1000 + k : most;
#pragma omp atomic write release
        held = mine;
      }
    }
  }
#pragma omp taskwait
#pragma omp atomic read seq_cst
  old = x;
  CHECK(old == k_n * 1000 && most == k_n * 1000 + 999 && held > 0);
}

static int g_order;
struct pair {
  int x, y;
};
#pragma omp declare reduction(joined : struct pair : omp_out.x += omp_in.x, omp_out.y += omp_in.y)
static void reduced(void) {
  struct pair both = {0, 0};
  for (int i = 0; i < k_n; ++i) {
#pragma omp task reduction(joined : both)
    {
      both.x += i;
      both.y -= i;
    }
#pragma omp task
    {
#pragma omp critical
      {
        const int before = g_order;
        be_late();
        g_order = before + 1;
      }
    }
  }
#pragma omp taskwait
  CHECK(both.x == k_n * (k_n - 1) / 2 && both.y == -both.x && g_order == k_n);
}

// Notes that change nothing.
static void notes(void) {
  int x = 1, v[k_n] = {0};
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
  PRAGMA(omp target device(smp))
#pragma omp task inout(x)
  x += 5;
#pragma omp taskwait
  PRAGMA(omp simd)
  for (int i = 0; i < k_n; ++i)
    v[i] = x;
#pragma clang diagnostic pop
  CHECK(x == 6 && v[k_n - 1] == 6);
}

int main(void) {
  accesses();
  waits();
  data();
  options();
  atomics();
  reduced();
  notes();
  return 0;
}

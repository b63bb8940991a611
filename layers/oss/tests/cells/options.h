// SPDX-License-Identifier: Apache-2.0
// The other clauses of each loop, and of lint; target.
#include "common.h"

enum { k_n = 8 };

// The creator goes on when all iterations have run.
#define IF(DIRECTIVE)                                                                              \
  do {                                                                                             \
    int seen = 0, later = 0;                                                                       \
    PRAGMA(oss DIRECTIVE if (later) shared(seen))                                                  \
    for (int i = 0; i < k_n; ++i) {                                                                \
      be_late();                                                                                   \
      add(&seen);                                                                                  \
    }                                                                                              \
    CHECK(load(&seen) == k_n);                                                                     \
    PRAGMA(oss taskwait)                                                                           \
  } while (0)
// The tasks inside run in place.
#define FINAL(DIRECTIVE)                                                                           \
  do {                                                                                             \
    int seen = 0, yes = 1;                                                                         \
    PRAGMA(oss DIRECTIVE final(yes > 0) shared(seen))                                              \
    for (int i = 0; i < k_n; ++i) {                                                                \
      int inside = 0;                                                                              \
      PRAGMA(oss task shared(inside)) inside = 1;                                                  \
      CHECK(inside == 1 && weft_task_in_final());                                                  \
      add(&seen);                                                                                  \
    }                                                                                              \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(seen == k_n);                                                                            \
  } while (0)
// Copies of a variable, with its value or without, and the variable itself.
#define DATA(DIRECTIVE)                                                                            \
  do {                                                                                             \
    int own = 5, copy = 7, same = 0, seen = 0;                                                     \
    PRAGMA(oss DIRECTIVE private(own) firstprivate(copy) shared(same, seen))                       \
    for (int i = 0; i < k_n; ++i) {                                                                \
      CHECK(copy == 7);                                                                            \
      own = i;                                                                                     \
      copy += own;                                                                                 \
      copy -= own;                                                                                 \
      add(&same);                                                                                  \
      add(&seen);                                                                                  \
    }                                                                                              \
    own = 6;                                                                                       \
    copy = 8;                                                                                      \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(own == 6 && copy == 8 && same == k_n && seen == k_n);                                    \
    PRAGMA(oss DIRECTIVE default(shared))                                                          \
    for (int i = 0; i < k_n; ++i)                                                                  \
      add(&same);                                                                                  \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(same == 2 * k_n);                                                                        \
  } while (0)
// What a task says about itself, expressions that are evaluated, and `wait`, which keeps x until the children are complete.
#define HINTS(DIRECTIVE)                                                                           \
  do {                                                                                             \
    int x = 0, ready = 0, asked = 0, children = 0, after = 0;                                      \
    PRAGMA(oss DIRECTIVE priority(++asked) cost(2 * 21) label("a cell") wait onready(add(&ready))  \
               inout(x) shared(ready, children))                                                   \
    for (int i = 0; i < k_n; ++i) {                                                                \
      CHECK(load(&ready) > 0 && weft_task_cost() == 42 && !strcmp(weft_task_label(), "a cell"));   \
      PRAGMA(oss task shared(children)) {                                                          \
        be_late();                                                                                 \
        add(&children);                                                                            \
      }                                                                                            \
    }                                                                                              \
    PRAGMA(oss task inout(x) shared(children, after)) after = load(&children);                     \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(after == k_n && asked > 0);                                                              \
  } while (0)
// Only the children reduce, beside a later task that reduces, and a reader comes behind all of them.
#define WEAKREDUCTION(DIRECTIVE)                                                                   \
  do {                                                                                             \
    int sum = 100, beside = 0, seen = 0;                                                           \
    PRAGMA(oss DIRECTIVE weakreduction(+ : sum) shared(beside))                                    \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task reduction(+ : sum) firstprivate(i) shared(beside)) {                         \
        wait_for(&beside);                                                                         \
        be_late();                                                                                 \
        sum += i;                                                                                  \
      }                                                                                            \
    }                                                                                              \
    PRAGMA(oss task reduction(+ : sum) shared(beside)) {                                           \
      sum += 1000;                                                                                 \
      add(&beside);                                                                                \
    }                                                                                              \
    PRAGMA(oss task in(sum)shared(seen)) seen = sum;                                               \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(seen == 100 + k_n * (k_n - 1) / 2 + 1000 && sum == seen);                                \
  } while (0)
// A note to a checker changes nothing.
static void notes(void) {
  int x = 1, y = 2, z = 3;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
  PRAGMA(oss lint in(x)out(y) inout(z) concurrent(x) commutative(x) weakin(x) weakout(x)
             weakinout(x) weakconcurrent(x) weakcommutative(x) depend(in : x) reduction(+ : z)
                 weakreduction(+ : z) shared(x) private(x) firstprivate(x) default(none) if (x)
                     final(x) priority(x) cost(x) label("x") wait onready(x))
  x += y + z;
  PRAGMA(oss target device(smp))
  ++x;
#pragma clang diagnostic pop
  CHECK(x == 7);
}

int main(void) {
  IF(taskloop grainsize(2));
  IF(task for chunksize(2));
  FINAL(taskloop for grainsize(4) chunksize(2));
  DATA(task for chunksize(2));
  DATA(taskloop for grainsize(4) chunksize(2));
  HINTS(taskloop for grainsize(4) chunksize(2));
  WEAKREDUCTION(taskloop grainsize(2));
  WEAKREDUCTION(task for chunksize(2));
  notes();
  return 0;
}

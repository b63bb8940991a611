// SPDX-License-Identifier: Apache-2.0
// Each kind of access as a clause of each loop, of release and of taskwait: what it orders, and what it does not.
#include "common.h"

#pragma oss assert("version.dependencies==discrete")

enum { k_n = 8 };

static void before(int *x) {
#pragma oss task inout(*x)
  {
    be_late();
    *x = 1;
  }
}
// All iterations of both loops come before a task that writes.
static void after(int *x, const int *first, const int *second) {
  int sum = 0, last = 0;
#pragma oss task inout(*x) shared(sum, last)
  {
    sum = load(first) + load(second);
    last = *x;
    *x = 2;
  }
#pragma oss taskwait
  CHECK(sum == 2 * k_n && last == 1 && *x == 2);
}
// An iteration of one of two loops, which may run side by side, and do so here.
static void meet(int x, int *own, const int *other) {
  CHECK(x == 1);
  add(own);
  wait_for(other);
}
// An iteration of one of two loops, of which one comes behind the other.
static void exclude(int x, int *own, const int *other) {
  const int n = load(other);
  CHECK(x == 1 && (n == 0 || n == k_n));
  be_late();
  CHECK(load(other) == n);
  add(own);
}
// The same, where the second one comes behind the first.
static void follow(int x, int *own, const int *other, int is_second) {
  exclude(x, own, other);
  CHECK(!is_second || load(other) == k_n);
}

// Two loops.
#define STRONG(DIRECTIVE, ITEM, ITEM_OF_SECOND, FIRST, SECOND)                                     \
  do {                                                                                             \
    int x = 0, first = 0, second = 0;                                                              \
    before(&x);                                                                                    \
    PRAGMA(oss DIRECTIVE ITEM shared(first, second))                                               \
    for (int i = 0; i < k_n; ++i)                                                                  \
      FIRST;                                                                                       \
    PRAGMA(oss DIRECTIVE ITEM_OF_SECOND shared(first, second))                                     \
    for (int i = 0; i < k_n; ++i)                                                                  \
      SECOND;                                                                                      \
    after(&x, &first, &second);                                                                    \
  } while (0)
#define MEET(DIRECTIVE, ITEM)                                                                      \
  STRONG(DIRECTIVE, ITEM, ITEM, meet(x, &first, &second), meet(x, &second, &first))
#define EXCLUDE(DIRECTIVE, ITEM)                                                                   \
  STRONG(DIRECTIVE, ITEM, ITEM, exclude(x, &first, &second), exclude(x, &second, &first))
#define FOLLOW(DIRECTIVE, ITEM, ITEM_OF_SECOND)                                                    \
  STRONG(DIRECTIVE, ITEM, ITEM_OF_SECOND, follow(x, &first, &second, 0),                           \
         follow(x, &second, &first, 1))

// The loop itself begins before the task that it names data of has ended, and what its children do is ordered.
#define WEAK(DIRECTIVE, ITEM, CHILD)                                                               \
  do {                                                                                             \
    int x = 0, begun = 0, seen = 0, other = k_n;                                                   \
    PRAGMA(oss task inout(x) shared(begun)) {                                                      \
      wait_for(&begun);                                                                            \
      be_late();                                                                                   \
      x = 1;                                                                                       \
    }                                                                                              \
    PRAGMA(oss DIRECTIVE ITEM shared(begun, seen))                                                 \
    for (int i = 0; i < k_n; ++i) {                                                                \
      add(&begun);                                                                                 \
      PRAGMA(oss task CHILD shared(seen)) {                                                        \
        CHECK(x == 1);                                                                             \
        add(&seen);                                                                                \
      }                                                                                            \
    }                                                                                              \
    after(&x, &seen, &other);                                                                      \
  } while (0)

// What the children of two loops do is side by side, and a reader comes behind all of them.
#define WEAK_MEET(DIRECTIVE, ITEM, CHILD)                                                          \
  do {                                                                                             \
    int x = 1, first = 0, second = 0, sum = 0;                                                     \
    PRAGMA(oss DIRECTIVE ITEM shared(first, second))                                               \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task CHILD shared(first, second)) {                                               \
        meet(x, &first, &second);                                                                  \
        be_late();                                                                                 \
      }                                                                                            \
    }                                                                                              \
    PRAGMA(oss DIRECTIVE ITEM shared(first, second))                                               \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task CHILD shared(first, second)) {                                               \
        be_late();                                                                                 \
        meet(x, &second, &first);                                                                  \
      }                                                                                            \
    }                                                                                              \
    PRAGMA(oss task in(x)shared(first, second, sum)) sum = x * (load(&first) + load(&second));     \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(sum == 2 * k_n);                                                                         \
  } while (0)

// Weak items of a taskiter count as strong ones.
#define ITERATED(ITEM, CHILD)                                                                      \
  do {                                                                                             \
    int x = 0, seen = 0, other = k_n;                                                              \
    before(&x);                                                                                    \
    PRAGMA(oss taskiter ITEM shared(seen))                                                         \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task CHILD shared(seen)) {                                                        \
        CHECK(x == 1);                                                                             \
        add(&seen);                                                                                \
      }                                                                                            \
    }                                                                                              \
    after(&x, &seen, &other);                                                                      \
  } while (0)

#define LOOPS(DIRECTIVE)                                                                           \
  do {                                                                                             \
    MEET(DIRECTIVE, in(x));                                                                        \
    FOLLOW(DIRECTIVE, out(x), out(x));                                                             \
    MEET(DIRECTIVE, depend(in : x));                                                               \
    MEET(DIRECTIVE, concurrent(x));                                                                \
    FOLLOW(DIRECTIVE, concurrent(x), in(x));                                                       \
    EXCLUDE(DIRECTIVE, commutative(x));                                                            \
    WEAK(DIRECTIVE, weakin(x), in(x));                                                             \
    WEAK(DIRECTIVE, weakout(x), out(x));                                                           \
    WEAK(DIRECTIVE, weakinout(x), inout(x));                                                       \
    WEAK(DIRECTIVE, weakconcurrent(x), concurrent(x));                                             \
    WEAK_MEET(DIRECTIVE, weakconcurrent(x), concurrent(x));                                        \
    WEAK(DIRECTIVE, weakcommutative(x), commutative(x));                                           \
  } while (0)

// The item is given up before the body has ended: a task that follows runs while the body waits for it.
#define RELEASE(ITEM, GIVEN)                                                                       \
  do {                                                                                             \
    int x = 0, followed = 0;                                                                       \
    PRAGMA(oss task ITEM shared(followed)) {                                                       \
      PRAGMA(oss release GIVEN)                                                                    \
      wait_for(&followed);                                                                         \
    }                                                                                              \
    PRAGMA(oss task inout(x) shared(followed)) {                                                   \
      x = 1;                                                                                       \
      add(&followed);                                                                              \
    }                                                                                              \
    PRAGMA(oss taskwait)                                                                           \
    CHECK(x == 1);                                                                                 \
  } while (0)

// The wait ends when the tasks before it allow what the clause says, and waits for no task of other data.
#define TASKWAIT(FIRST, ITEM)                                                                      \
  do {                                                                                             \
    int x = 0, y = 0, waited = 0;                                                                  \
    PRAGMA(oss task FIRST inout(y)) {                                                              \
      be_late();                                                                                   \
      y = 1;                                                                                       \
    }                                                                                              \
    PRAGMA(oss task shared(waited)) wait_for(&waited);                                             \
    PRAGMA(oss taskwait ITEM)                                                                      \
    CHECK(load(&y) == 1);                                                                          \
    add(&waited);                                                                                  \
    PRAGMA(oss taskwait)                                                                           \
  } while (0)

int main(void) {
  LOOPS(taskloop grainsize(k_n));
  LOOPS(task for chunksize(1));
  LOOPS(taskloop for grainsize(k_n) chunksize(2));
  ITERATED(in(x), in(x));
  ITERATED(out(x), inout(x));
  ITERATED(depend(inout : x), inout(x));
  ITERATED(concurrent(x), concurrent(x));
  ITERATED(commutative(x), commutative(x));
  ITERATED(weakin(x), in(x));
  ITERATED(weakout(x), inout(x));
  ITERATED(weakconcurrent(x), concurrent(x));
  ITERATED(weakcommutative(x), commutative(x));
  RELEASE(in(x), in(x));
  RELEASE(inout(x), inout(x));
  RELEASE(concurrent(x), concurrent(x));
  RELEASE(commutative(x), commutative(x));
  RELEASE(weakin(x), weakin(x));
  RELEASE(weakout(x), weakout(x));
  RELEASE(weakinout(x), weakinout(x));
  RELEASE(weakconcurrent(x), weakconcurrent(x));
  RELEASE(weakcommutative(x), weakcommutative(x));
  RELEASE(inout(x), depend(inout : x));
  TASKWAIT(in(x), out(x));
  TASKWAIT(out(x), depend(in : x));
  return 0;
}

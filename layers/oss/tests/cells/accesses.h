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
// What a task inside of one of two loops does, which must be the only one of both to do so.
static void be_alone(int x, int *inside, int *own) {
  CHECK(x == 1 && __atomic_add_fetch(inside, 1, __ATOMIC_ACQ_REL) == 1);
  be_late();
  __atomic_sub_fetch(inside, 1, __ATOMIC_ACQ_REL);
  add(own);
}
// Opens a gate when the counter is no longer 0.
static void open_gate(int *gate, int *counter) {
#pragma oss task out(*gate)
  {
    wait_for(counter);
    *gate = 1;
  }
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
// The first loop waits until an iteration of the second one has run.
#define EXCLUDE(DIRECTIVE, ITEM)                                                                   \
  do {                                                                                             \
    int x = 0, gate = 0, first = 0, second = 0;                                                    \
    before(&x);                                                                                    \
    open_gate(&gate, &second);                                                                     \
    PRAGMA(oss DIRECTIVE ITEM in(gate) shared(first, second))                                      \
    for (int i = 0; i < k_n; ++i)                                                                  \
      exclude(x, &first, &second);                                                                 \
    PRAGMA(oss DIRECTIVE ITEM shared(first, second))                                               \
    for (int i = 0; i < k_n; ++i)                                                                  \
      exclude(x, &second, &first);                                                                 \
    after(&x, &first, &second);                                                                    \
  } while (0)
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

// What the children of two loops do is one after the other in any order: the first loop waits until a child of the second one has run.
#define WEAK_EXCLUDE(DIRECTIVE, ITEM, CHILD)                                                       \
  do {                                                                                             \
    int x = 0, gate = 0, inside = 0, first = 0, second = 0;                                        \
    before(&x);                                                                                    \
    open_gate(&gate, &second);                                                                     \
    PRAGMA(oss DIRECTIVE ITEM in(gate) shared(inside, first))                                      \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task CHILD shared(inside, first)) be_alone(x, &inside, &first);                   \
    }                                                                                              \
    PRAGMA(oss DIRECTIVE ITEM shared(inside, second))                                              \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task CHILD shared(inside, second)) be_alone(x, &inside, &second);                 \
    }                                                                                              \
    after(&x, &first, &second);                                                                    \
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

// The tasks of two taskiters run side by side.
#define ITERATED_MEET(ITEM)                                                                        \
  do {                                                                                             \
    int x = 0, first = 0, second = 0;                                                              \
    before(&x);                                                                                    \
    PRAGMA(oss taskiter ITEM shared(first, second))                                                \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task shared(first, second, x)) meet(x, &first, &second);                          \
    }                                                                                              \
    PRAGMA(oss taskiter ITEM shared(first, second))                                                \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task shared(first, second, x)) meet(x, &second, &first);                          \
    }                                                                                              \
    after(&x, &first, &second);                                                                    \
  } while (0)

// The tasks of one taskiter come behind all of the other's, which waits until one of the second has run.
#define ITERATED_EXCLUDE(ITEM)                                                                     \
  do {                                                                                             \
    int x = 0, gate = 0, first = 0, second = 0;                                                    \
    before(&x);                                                                                    \
    open_gate(&gate, &second);                                                                     \
    PRAGMA(oss taskiter ITEM in(gate) shared(first, second))                                       \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task shared(first, second, x)) exclude(x, &first, &second);                       \
    }                                                                                              \
    PRAGMA(oss taskiter ITEM shared(first, second))                                                \
    for (int i = 0; i < k_n; ++i) {                                                                \
      PRAGMA(oss task shared(first, second, x)) exclude(x, &second, &first);                       \
    }                                                                                              \
    after(&x, &first, &second);                                                                    \
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
    WEAK_EXCLUDE(DIRECTIVE, weakcommutative(x), commutative(x));                                   \
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
  ITERATED_MEET(in(x));
  ITERATED(out(x), inout(x));
  ITERATED(depend(inout : x), inout(x));
  ITERATED(concurrent(x), concurrent(x));
  ITERATED_MEET(concurrent(x));
  ITERATED(commutative(x), commutative(x));
  ITERATED_EXCLUDE(commutative(x));
  ITERATED(weakin(x), in(x));
  ITERATED_MEET(weakin(x));
  ITERATED(weakout(x), inout(x));
  ITERATED(weakconcurrent(x), concurrent(x));
  ITERATED_MEET(weakconcurrent(x));
  ITERATED(weakcommutative(x), commutative(x));
  ITERATED_EXCLUDE(weakcommutative(x));
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

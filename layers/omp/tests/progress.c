/* SPDX-License-Identifier: Apache-2.0
   Waits that end only if another thread or task may go on. In each one a shortcut of another
   runtime would hang. GCC and Clang compile the program. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "progress: %s\n", what);
    exit(1);
  }
}

static int look(int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

/* A task of the inner group waits for one of the outer group, which perhaps no other thread is
   there to run. */
static void groups(void) {
  int x = 1, order = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task shared(x, order) depend(in : x)
    {
      require(x == 1, "in before out");
      order = 1;
    }
#pragma omp taskgroup
    {
#pragma omp task shared(x, order) depend(out : x)
      {
        require(order == 1, "out after in");
        x = 2;
      }
    }
    require(x == 2, "the inner group is over");
  }
}

/* One member runs far ahead of another one that waits for it. */
static void ahead(void) {
  int go = 0, done[64] = {0};
#pragma omp parallel num_threads(2)
  {
    if (omp_get_num_threads() == 2 && omp_get_thread_num() == 1)
      while (!look(&go)) {
#pragma omp taskyield
      }
    for (int round = 0; round < 64; ++round) {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 8; ++i) {
#pragma omp atomic
        done[round]++;
      }
    }
    if (omp_get_thread_num() == 0)
      __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  }
  for (int round = 0; round < 64; ++round)
    require(done[round] == 8, "each iteration of each loop once");
}

/* One member leaves a cancelled region, and never comes to the other member's loops. With
   OMP_CANCELLATION=true. */
static void cancelled(void) {
  int left = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      __atomic_store_n(&left, 1, __ATOMIC_RELEASE);
#pragma omp cancel parallel
    }
    while (omp_get_num_threads() == 2 && !look(&left)) {
#pragma omp taskyield
    }
    for (int round = 0; round < 64; ++round) {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < 8; ++i)
        __atomic_add_fetch(&left, 1, __ATOMIC_RELAXED);
    }
  }
}

#if defined(__clang__) || __GNUC__ >= 13
/* A task with omp_all_memory runs between tasks that name other addresses. */
static void all(void) {
  int before[8] = {0}, after[8] = {0}, seen = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(before) firstprivate(i) depend(out : before[i])
      before[i] = 1;
    }
#pragma omp task shared(before, seen) depend(inout : omp_all_memory)
    for (int i = 0; i < 8; ++i)
      seen += before[i];
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(after, seen) firstprivate(i) depend(out : after[i])
      after[i] = seen;
    }
  }
  require(seen == 8, "all memory: after what came before");
  for (int i = 0; i < 8; ++i)
    require(after[i] == 8, "all memory: before what comes after");
}
#else
static void all(void) {}
#endif

/* A member creates tiny tasks, leaves them to the other member, and does something else, or sleeps,
   until they are complete. */
static void left_to_others(int ordered, int sleeps) {
  enum { tasks = 3000 };
  int done = 0;
  char place;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < tasks; ++i)
      if (ordered) {
#pragma omp task shared(done) depend(inout : place)
        __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
      } else {
#pragma omp task shared(done)
        __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
      }
    while (omp_get_num_threads() == 2 && look(&done) != tasks) {
      if (sleeps)
        usleep(50);
#pragma omp taskyield
    }
  }
  require(done == tasks, "each task once");
}

int main(void) {
  for (int round = 0; round < 20; ++round) {
    groups();
    ahead();
    cancelled();
    all();
    for (int i = 0; i < 4; ++i)
      left_to_others(i & 1, i & 2);
  }
  puts("progress: ok");
  return 0;
}

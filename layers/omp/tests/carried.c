/* SPDX-License-Identifier: Apache-2.0
   What one construct leaves behind does not reach the next one: copies of a cancelled reduction, a
   clause of a region that was not made, loops that a member has run ahead of. And the clauses of a
   task with accesses are its own. A child of fork() has a lock of its parent without the threads that
   wait for it. GCC and Clang compile the program; it runs with
   OMP_CANCELLATION=true, OMP_MAX_TASK_PRIORITY=5 and OMP_PROC_BIND=close. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* As <omp.h> has them, which Clang's package lacks: any lock fits. */
typedef struct {
  void *room[8];
} omp_lock_t;
extern void omp_init_lock(omp_lock_t *);
extern void omp_set_lock(omp_lock_t *);
extern void omp_unset_lock(omp_lock_t *);
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_proc_bind(void);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "carried: %s\n", what);
    exit(1);
  }
}

/* The next region has more members, and more variables, than the copies of the cancelled one. */
static void cancelled_region(int threads) {
  long x = 0, a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(2) reduction(task, + : x)
  {
    x += 1;
#pragma omp cancel parallel
    x += 100;
  }
#pragma omp parallel num_threads(threads) reduction(task, + : a, b, c)
  {
#pragma omp task in_reduction(+ : a, b, c)
    {
      a += 1;
      b += 10;
      c += 100;
    }
    a += 1000;
  }
  require(a == 1001L * threads && b == 10L * threads && c == 100L * threads,
          "reduction(task, ...) behind a cancelled region");
}

static void cancelled_loop(void) {
  long x = 0, a = 0, b = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(task, + : x) schedule(static)
    for (int i = 0; i < 300; ++i) {
#pragma omp task in_reduction(+ : x)
      x += 1;
#pragma omp cancel for
    }
#pragma omp for reduction(task, + : a, b) schedule(static)
    for (int i = 0; i < 300; ++i) {
#pragma omp task in_reduction(+ : a, b)
      {
        a += 1;
        b += 2;
      }
    }
  }
  require(a == 300 && b == 600, "reduction(task, ...) behind a cancelled loop");
}

static void requests(void) {
  const int usual = omp_get_proc_bind();
  int seen = -1;
#pragma omp parallel if (0) proc_bind(master)
  require(omp_get_num_threads() == 1, "if(0)");
#pragma omp parallel num_threads(2)
#pragma omp single
  seen = omp_get_proc_bind();
  require(usual != 0 || seen == 0, "no binding");
#pragma omp parallel num_threads(2) proc_bind(spread)
#pragma omp single
  seen = omp_get_proc_bind();
#pragma omp parallel if (0) proc_bind(master)
  require(omp_get_num_threads() == 1, "if(0)");
  int later = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
  later = omp_get_proc_bind();
  require(later != 2, "proc_bind of a region that was not made holds for the next one");
}

/* Of two ready tasks with accesses the urgent one runs first, in whatever order they were created. */
static void priorities(void) {
  for (int urgent_first = 0; urgent_first < 2; ++urgent_first) {
    int created = 0, helps = 0, order[2] = {-1, -1}, next = 0, x = 0, y = 0;
#pragma omp parallel num_threads(2) shared(created, helps, order, next, x, y)
    {
#pragma omp single nowait
      {
        while (!__atomic_load_n(&helps, __ATOMIC_ACQUIRE))
          usleep(100);
#pragma omp task depend(out : x) priority(urgent_first ? 5 : 1) shared(order, next)
        order[next++] = urgent_first ? 5 : 1;
#pragma omp task depend(out : y) priority(urgent_first ? 1 : 5) shared(order, next)
        order[next++] = urgent_first ? 1 : 5;
#pragma omp taskwait
        __atomic_store_n(&created, 1, __ATOMIC_RELEASE);
      }
      if (!__atomic_load_n(&created, __ATOMIC_ACQUIRE)) { /* the other member, which runs no task */
        __atomic_store_n(&helps, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&created, __ATOMIC_ACQUIRE))
          usleep(100);
      }
    }
    require(order[0] == 5 && order[1] == 1, "priority of tasks with accesses");
  }
}

/* One member is so many loops ahead that records are made for them; the next region uses none. */
static void ahead(int loops) {
  static int counts[4000];
  for (int round = 0; round < 3; ++round) {
    int go = 0;
#pragma omp parallel num_threads(3) shared(go)
    {
      const int me = omp_get_thread_num();
      if (me == 1)
        while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
          usleep(100);
      for (int k = 0; k < loops; ++k) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 4; ++i) {
#pragma omp atomic
          counts[k]++;
        }
        if (me == 0 && k == loops - 1)
          __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
      }
    }
    for (int k = 0; k < loops; ++k) {
      require(counts[k] == 4, "a loop that a member runs ahead of");
      counts[k] = 0;
    }
    long sum = 0;
#pragma omp parallel for num_threads(3) schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 100; ++i)
      sum += i;
    require(sum == 4950, "the region behind them");
  }
}

static omp_lock_t g_lock;
static void *takes_lock(void *none) {
  omp_set_lock(&g_lock);
  omp_unset_lock(&g_lock);
  return none;
}
static void forked(void) {
  pthread_t waiters[3];
  omp_init_lock(&g_lock);
  omp_set_lock(&g_lock);
  for (int i = 0; i < 3; ++i)
    require(pthread_create(&waiters[i], NULL, takes_lock, NULL) == 0, "pthread_create");
  usleep(20000); /* until they sleep, most probably */
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    long sum = 0;
    omp_unset_lock(&g_lock);
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 100; ++i) {
      omp_set_lock(&g_lock);
      ++sum;
      omp_unset_lock(&g_lock);
    }
    _exit(sum == 300 ? 0 : 2);
  }
  int status = -1;
  require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child of a fork");
  omp_unset_lock(&g_lock);
  for (int i = 0; i < 3; ++i)
    require(pthread_join(waiters[i], NULL) == 0, "pthread_join");
}

int main(void) {
  for (int round = 0; round < 20; ++round) {
    cancelled_region(2 + round % 7);
    cancelled_loop();
    requests();
  }
  priorities();
  ahead(4000);
  forked();
  puts("carried: ok");
  return 0;
}

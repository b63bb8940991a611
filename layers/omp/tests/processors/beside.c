/* SPDX-License-Identifier: Apache-2.0
   Threads of the program spin outside all regions, for a lock around regions, for longer than a
   time slice. Every thread gets its turns, registers and errno keep their values, and no thread
   that sleeps in a system call is woken. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);

enum { k_callers = 8, k_rounds = 20, k_sleepers = 2 };

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "beside: %s\n", what);
    exit(1);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char taken;
static int inside, over, told; /* with the lock: inside */

static void lock(void) {
  char free = 0;
  while (!__atomic_compare_exchange_n(&taken, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    free = 0;
}
static void unlock(void) { __atomic_store_n(&taken, 0, __ATOMIC_RELEASE); }

static double work(int n) {
  double x = 1;
  for (int i = 0; i < n; ++i)
    x = x * 0.999 + 0.001;
  return x;
}

static double region(void) {
  double sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
  sum += work(20000);
  return sum;
}

static void *caller(void *p) {
  const int me = *(const int *)p;
  const double rounding = 1.0 / (me + 3); /* in a register over the wait */
  errno = 100 + me;
  for (int round = 0; round < k_rounds; ++round) {
    lock();
    require(++inside == 1, "one at a time");
    const double sum = region();
    require(sum > 0.99 * 8 && sum < 1.01 * 8, "a sum");
    --inside;
    unlock();
    require(rounding == 1.0 / (me + 3) && errno == 100 + me, "a register and errno");
  }
  return NULL;
}

/* A thread that has run a region sleeps. A signal would cut its sleep short. */
static void *sleeper(void *p) {
  (void)p;
  region();
  __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
    struct timespec t = {0, 3000000};
    require(nanosleep(&t, NULL) == 0, "a sleep was cut short");
  }
  return NULL;
}

static void *passer_by(void *p) {
  const double end = now() + 0.004;
  omp_get_max_threads(); /* the layer knows the thread from now on, and the thread ends soon */
  while (now() < end) {
  }
  return p;
}

static void *town(void *p) {
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
    pthread_t t;
    require(pthread_create(&t, NULL, passer_by, p) == 0, "a thread");
    pthread_join(t, NULL);
  }
  return p;
}

static void oversubscribe(void) {
  pthread_t callers[k_callers], sleepers[k_sleepers], streets;
  int numbers[k_callers];
  over = told = 0;
  for (int i = 0; i < k_sleepers; ++i)
    require(pthread_create(&sleepers[i], NULL, sleeper, NULL) == 0, "a thread");
  require(pthread_create(&streets, NULL, town, NULL) == 0, "a thread");
  for (int i = 0; i < k_callers; ++i) {
    numbers[i] = i;
    require(pthread_create(&callers[i], NULL, caller, &numbers[i]) == 0, "a thread");
  }
  for (int i = 0; i < k_callers; ++i)
    pthread_join(callers[i], NULL);
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < k_sleepers; ++i)
    pthread_join(sleepers[i], NULL);
  pthread_join(streets, NULL);
  require(told == k_sleepers, "every thread slept");
}

/* Members spin for each other without a call, in regions of threads for which the main thread, a
   worker, waits. */
static int met, reads, done[2], ends[2];
static void *meets(void *p) {
  for (int i = 1; i <= 3; ++i) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
      while (__atomic_load_n(&met, __ATOMIC_ACQUIRE) < i) {
      }
    } else {
      __atomic_store_n(&met, i, __ATOMIC_RELEASE);
    }
    usleep(30000); /* the watcher sees the thread outside all regions */
  }
  return p;
}

/* A member sleeps in the kernel until a member of the other region writes. The first threads of
   both regions spin. */
static void *half(void *p) {
  const int me = *(const int *)p;
  while (me == 1 && !__atomic_load_n(&reads, __ATOMIC_ACQUIRE))
    usleep(1000);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    while (!__atomic_load_n(&done[me], __ATOMIC_ACQUIRE)) {
    }
  } else {
    char c = 'x';
    if (me == 0)
      __atomic_store_n(&reads, 1, __ATOMIC_RELEASE);
    require((me == 0 ? read(ends[0], &c, 1) : write(ends[1], &c, 1)) == 1, "a pipe");
    __atomic_store_n(&done[me], 1, __ATOMIC_RELEASE);
  }
  return p;
}

static void main_waits(void) {
  pthread_t t[2];
  int numbers[2] = {0, 1};
  met = reads = done[0] = done[1] = 0;
  region();
  require(pthread_create(&t[0], NULL, meets, NULL) == 0, "a thread");
  pthread_join(t[0], NULL);
  require(met == 3, "each region ended");
  require(pipe(ends) == 0, "a pipe");
  for (int i = 0; i < 2; ++i)
    require(pthread_create(&t[i], NULL, half, &numbers[i]) == 0, "a thread");
  for (int i = 0; i < 2; ++i)
    pthread_join(t[i], NULL);
  close(ends[0]);
  close(ends[1]);
}

/* Members of a region spin for a thread that spins outside all regions until they ask it. Both have
   to run. */
static int want, have;
static void *answerer(void *p) {
  region();
  for (int i = 1; i <= 30; ++i) {
    while (__atomic_load_n(&want, __ATOMIC_ACQUIRE) < i) {
    }
    __atomic_store_n(&have, i, __ATOMIC_RELEASE);
  }
  return p;
}

static void answers(void) {
  pthread_t t;
  want = have = 0;
  require(pthread_create(&t, NULL, answerer, NULL) == 0, "a thread");
#pragma omp parallel num_threads(8)
  for (int i = 1; i <= 30; ++i) {
    work(1000000);
#pragma omp barrier
#pragma omp single
    __atomic_store_n(&want, i, __ATOMIC_RELEASE);
    while (__atomic_load_n(&have, __ATOMIC_ACQUIRE) < i) {
    }
  }
  pthread_join(t, NULL);
  require(have == 30, "everything was answered");
}

/* Starts regions of many threads in the child of a fork, which has one thread at first. */
static void fork_and_oversubscribe(void) {
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    alarm(120);
    oversubscribe();
    _exit(0);
  }
  int status = 1;
  require(waitpid(child, &status, 0) == child && status == 0, "the child is well");
}

int main(void) {
  oversubscribe();
  main_waits();
  answers();
  fork_and_oversubscribe();
  puts("beside: ok");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
   A child of fork() gets no lock that another thread had at the fork: of the lists of num_threads(a, b),
   of threadprivate copies without thread-local storage, of lists of cpus. A thread takes the lock again
   and again while the first one forks. KIND: which lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { k_children = 300, k_lists = 200 };

int __kmpc_global_thread_num(void *);
void __kmpc_push_num_threads_list(void *, int, unsigned, const int *);
void *__kmpc_threadprivate_cached(void *, int, void *, size_t, void ***);

#if KIND == 1
static void use(int i) {
  const int list[2] = {1 + i % 7, 1 + i};
  __kmpc_push_num_threads_list(NULL, __kmpc_global_thread_num(NULL), 2, list);
}
#elif KIND == 2
static long variables[k_lists];
static void use(int i) {
  *(long *)__kmpc_threadprivate_cached(NULL, 0, &variables[i], sizeof(long), NULL) = i;
}
#else
/* Lists that differ at their ends, of cpus of which most are not there: to compare them takes long. */
static void use(int i) {
  cpu_set_t set;
  memset(&set, -1, sizeof set);
  CPU_CLR(CPU_SETSIZE - 1 - i, &set);
  __kmpc_global_thread_num(NULL);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    abort();
}
#endif

static int ends;
static void *use_all(void *unused) {
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
    for (int i = 0; i < k_lists; ++i)
      use(i);
  return unused;
}

int main(void) {
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  ++threads;
  for (int i = 0; i < k_lists; ++i)
    use(i);
  pthread_t other;
  pthread_create(&other, NULL, &use_all, NULL);
  for (int i = 0; i < k_children; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20); /* else it would wait for ever for the lock */
      for (int k = 0; k < k_lists; ++k)
        use(k);
#if KIND == 2
      for (int k = 0; k < k_lists; ++k)
        if (variables[k] != k)
          _exit(2);
#endif
      _exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      fprintf(stderr, "fork_locks: child %d ended with %d\n", i, status);
      return 1;
    }
  }
  __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
  pthread_join(other, NULL);
  return threads == 2 ? 0 : 1;
}

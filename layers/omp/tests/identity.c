/* SPDX-License-Identifier: Apache-2.0
   An OpenMP thread keeps what belongs to it over every construct that may suspend it, in nested
   regions and with more threads than cpus. The program is compiled without knowledge of Weft. */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int own;
#pragma omp threadprivate(own)
static __thread void *self_seen;

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "identity: %s\n", what);
    exit(1);
  }
}

static void check(int mark, pthread_t self) {
  require(own == mark, "threadprivate");
  require(errno == mark, "errno");
  require(self_seen == (void *)&own, "thread_local");
  require(pthread_equal(self, pthread_self()), "pthread_self");
}

static void *g_memory;

static void inner(int outer, omp_lock_t *lock) {
#pragma omp parallel num_threads(8)
  {
    const int mark = 1000 + outer * 8 + omp_get_thread_num();
    const pthread_t self = pthread_self();
    own = mark;
    self_seen = &own;
    errno = mark;
    for (int round = 0; round < 20; ++round) {
#pragma omp barrier
      check(mark, self);
#pragma omp critical(identity)
      check(mark, self);
      omp_set_lock(lock);
      check(mark, self);
      omp_unset_lock(lock);
#pragma omp single
      for (int i = 0; i < 16; ++i) {
#pragma omp task
        require(own / 8 == (1000 + outer * 8) / 8,
                "a task has the identity of a member of its team");
      }
      check(mark, self);
#pragma omp taskyield
      check(mark, self);
    }
  }
}

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(8)
  {
    const int mark = omp_get_thread_num() + 1;
    int *const before = &own;
    for (int round = 0; round < 3; ++round) {
      inner(omp_get_thread_num(), &lock);
      own = mark; /* member 0 of the inner team was this thread */
      __atomic_store_n(&g_memory, malloc(100 + mark), __ATOMIC_RELAXED);
      require(before == &own, "the address of a threadprivate variable");
    }
  }
  omp_destroy_lock(&lock);
  puts("identity: ok");
  return 0;
}

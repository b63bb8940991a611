/* SPDX-License-Identifier: Apache-2.0
   A wake-up for a ready task goes to a member that can run it. One member spins until a task of its
   own is over, with a lock for which another member sleeps: the third one, which is idle, must run
   the task. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int read_flag(int *flag) {
  int value;
#pragma omp atomic read
  value = *flag;
  return value;
}
static void set_flag(int *flag) {
#pragma omp atomic write
  *flag = 1;
}

static int g_locked = 0, g_done = 0;

static void hold(omp_lock_t *lock) {
#pragma omp task
  {
  }
#pragma omp taskwait
  omp_set_lock(lock);
  set_flag(&g_locked);
  usleep(100000); /* the others go to sleep meanwhile: one for the lock, one at the barrier */
#pragma omp task
  set_flag(&g_done);
  while (!read_flag(&g_done)) {
  }
  omp_unset_lock(lock);
}

/* The member `waiter` of three waits for the lock, and the last one is idle. */
static void run(int waiter) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  g_locked = g_done = 0;
#pragma omp parallel num_threads(3)
  {
    const int me = omp_get_thread_num();
    if (me == 0) {
      hold(&lock);
    } else if (me == waiter) {
      while (!read_flag(&g_locked)) {
      }
      omp_set_lock(&lock);
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
}

int main(void) {
  alarm(60); /* a task that no thread runs fails */
  for (int round = 0; round < 2; ++round) {
    run(1);
    run(2);
  }
  puts("one_wake: ok");
  return 0;
}

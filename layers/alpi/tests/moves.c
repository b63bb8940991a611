/* SPDX-License-Identifier: Apache-2.0
   A task that has asked for the number of its CPU keeps its kernel thread until it waits, and may be interrupted again after any wait, alpi_task_waitfor_ns() among them: two such tasks
   spin on the one worker and the one spare that there are, and the thread that they wait for runs only in place of one of them. */
#include <alpi/alpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);

static int have_waited, set;

int main(void) {
#pragma omp parallel num_threads(4)
  {
    uint64_t number = 0, slept = 0;
    if (omp_get_thread_num() == 1 || omp_get_thread_num() == 2) {
      if (alpi_cpu_logical_id(&number) != ALPI_SUCCESS ||
          alpi_task_waitfor_ns(1000000, &slept) != ALPI_SUCCESS) {
        fprintf(stderr, "moves: the task may not wait\n");
        exit(1);
      }
      __atomic_fetch_add(&have_waited, 1, __ATOMIC_RELEASE);
      while (!__atomic_load_n(&set, __ATOMIC_ACQUIRE)) {
      }
    } else if (omp_get_thread_num() == 3) {
      while (__atomic_load_n(&have_waited, __ATOMIC_ACQUIRE) != 2)
        sched_yield();
      __atomic_store_n(&set, 1, __ATOMIC_RELEASE);
    }
  }
  puts("moves: ok");
  return 0;
}

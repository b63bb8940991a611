/* SPDX-License-Identifier: Apache-2.0
   The program's own thread waits. Another OpenMP thread comes to its kernel thread and ends what
   the first one waits for. The other thread then runs tasks that sleep, each of which creates the
   next, until the program's own thread goes on.
   No thread's sleep is cut short for that. With WEFT_WORKERS=2: a third thread has the other
   worker. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int found, goes_on, cut_short;

static int look(int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static void nap(void) {
  const struct timespec ms = {0, 1000000};
  if (nanosleep(&ms, NULL) != 0)
    __atomic_add_fetch(&cut_short, 1, __ATOMIC_RELAXED);
}

static void chain(void) {
  if (look(&goes_on))
    return;
  nap();
#pragma omp task
  chain();
}

static void own_thread(omp_event_handle_t *event) {
#pragma omp taskgroup
  {
    omp_event_handle_t e;
#pragma omp task detach(e)
    __atomic_store_n(event, e, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&goes_on, 1, __ATOMIC_RELEASE);
}

static void other_thread(omp_event_handle_t *event) {
  while (!look(&found) && syscall(SYS_gettid) != getpid()) {
#pragma omp taskyield
  }
  if (__atomic_exchange_n(&found, 1, __ATOMIC_ACQ_REL)) {
    while (!look(&goes_on))
      nap();
    return;
  }
  omp_fulfill_event(__atomic_load_n(event, __ATOMIC_ACQUIRE));
#pragma omp task
  chain();
}

int main(void) {
  for (int round = 0; round < 20; ++round) {
    omp_event_handle_t event = 0;
    found = goes_on = 0;
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 0)
      own_thread(&event);
    else
      other_thread(&event);
  }
  if (cut_short) {
    fprintf(stderr, "held_up: %d sleeps were cut short\n", cut_short);
    return 1;
  }
  puts("held_up: ok");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
   An external thread, which is in no team, ends the last task of a region. So it ends the barrier,
   and wakes the members that it finds in the team. Meanwhile the region's first thread begins a
   larger region or gives all threads up. No thread waits for the external thread. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static omp_event_handle_t given; /* 0: none */
static int done, sum;

static void nap(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

static void *external_thread(void *rounds) {
  for (long n = *(long *)rounds; n != 0; --n) {
    omp_event_handle_t e;
    while (!(e = __atomic_exchange_n(&given, 0, __ATOMIC_ACQ_REL)))
      nap(20);
    nap(200); /* all other threads sleep or spin meanwhile */
    omp_fulfill_event(e);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

/* Runs a region. The external thread ends its last task or, with_another, a task on which another
   one depends. */
static void region(int threads, int with_another) {
  omp_event_handle_t event;
  int data = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task detach(event) depend(out : data)
    {
      data = 1;
      __atomic_store_n(&given, event, __ATOMIC_RELEASE);
    }
    if (with_another)
#pragma omp task depend(in : data)
      sum += data;
  }
}

static void *first_thread(void *with_another) {
  for (int threads = 1; threads <= 8; threads *= 2)
    region(threads, *(int *)with_another);
  omp_pause_resource_all(omp_pause_soft);
  region(2, *(int *)with_another);
  omp_pause_resource_all(omp_pause_hard);
  return NULL;
}

int main(void) {
  enum { k_times = 40, k_regions = 5 };
  long rounds = k_times * k_regions;
  pthread_t other;
  if (pthread_create(&other, NULL, &external_thread, &rounds))
    return 2;
  for (int i = 0; i < k_times; ++i) {
    pthread_t first;
    int with_another = i % 2;
    if (pthread_create(&first, NULL, &first_thread, &with_another) || pthread_join(first, NULL))
      return 2;
  }
  pthread_join(other, NULL);
  if (done != rounds || sum != rounds / 2) {
    fprintf(stderr, "late: %d events of %ld, %d tasks\n", done, rounds, sum);
    return 1;
  }
  puts("late: ok");
  return 0;
}

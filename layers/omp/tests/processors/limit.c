// SPDX-License-Identifier: Apache-2.0
// OMP_THREAD_LIMIT=6 holds for nested regions that siblings begin at the same time, and for each of the
// program's threads alone.
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_barrier_t both_are_inside;
static atomic_int too_few = 0;

/* Has three threads, of which one gets three more, while another thread of the program has as many. */
static void *begin_regions(void *unused) {
  omp_set_max_active_levels(4);
#pragma omp parallel num_threads(3)
#pragma omp master
  {
    pthread_barrier_wait(&both_are_inside);
#pragma omp parallel num_threads(5)
#pragma omp master
    if (omp_get_num_threads() != 4) {
      printf("%d of 4 threads of a nested region\n", omp_get_num_threads());
      atomic_store(&too_few, 1);
    }
    pthread_barrier_wait(&both_are_inside);
  }
#pragma omp parallel num_threads(6) /* all have been given back */
#pragma omp master
  if (omp_get_num_threads() != 6)
    atomic_store(&too_few, 1);
  return unused;
}

static int each_thread_has_its_limit(void) {
  pthread_t other;
  pthread_barrier_init(&both_are_inside, NULL, 2);
  pthread_create(&other, NULL, &begin_regions, NULL);
  begin_regions(NULL);
  pthread_join(other, NULL);
  return !atomic_load(&too_few);
}

int main(void) {
  atomic_int at_once = 0, most = 0;
  omp_set_max_active_levels(4);
#pragma omp parallel num_threads(6)
  usleep(10);
  for (int i = 0; i < 5; ++i) {
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(2)
    {
      const int now = atomic_fetch_add(&at_once, 1) + 1;
      for (int seen = atomic_load(&most);
           seen < now && !atomic_compare_exchange_weak(&most, &seen, now);) {
      }
      usleep(10000); // in the kernel: spares let the others begin
      atomic_fetch_sub(&at_once, 1);
    }
  }
  printf("limit %d, at most %d at once\n", omp_get_thread_limit(), atomic_load(&most));
  return omp_get_thread_limit() == 6 && atomic_load(&most) >= 2 && atomic_load(&most) <= 6 &&
                 each_thread_has_its_limit()
             ? 0
             : 1;
}

// SPDX-License-Identifier: Apache-2.0
// OMP_THREAD_LIMIT=6 holds for nested regions that siblings begin at the same time.
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

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
  return omp_get_thread_limit() == 6 && atomic_load(&most) >= 2 && atomic_load(&most) <= 6 ? 0 : 1;
}

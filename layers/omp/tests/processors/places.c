/* SPDX-License-Identifier: Apache-2.0
   Places: which place each member of a team has, and that the member runs there. With
   OMP_PLACES=threads. Takes any number of cpus. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_num_places(void);
extern int omp_get_place_num(void);
extern int omp_get_place_num_procs(int);
extern void omp_get_place_proc_ids(int, int *);
extern int omp_get_partition_num_places(void);
extern void omp_get_partition_place_nums(int *);
extern int omp_get_proc_bind(void);
extern void omp_set_max_active_levels(int);

enum { bind_false, bind_true, bind_primary, bind_close, bind_spread };

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "places: %s\n", what);
    exit(1);
  }
}

/* Requires that the kernel keeps the caller on the place that OpenMP reports. */
static void check_mask(void) {
  const int place = omp_get_place_num();
  require(place >= 0 && place < omp_get_num_places(), "a number of a place");
  cpu_set_t set;
  require(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
  int ids[CPU_SETSIZE];
  const int n = omp_get_place_num_procs(place);
  omp_get_place_proc_ids(place, ids);
  require(CPU_COUNT(&set) == n, "the mask has as many cpus as the place");
  for (int i = 0; i < n; ++i)
    require(CPU_ISSET(ids[i], &set), "the mask has the place's cpus");
}

static void close_and_primary(int places, int start) {
  for (int threads = 2; threads <= 2 * places + 1; ++threads) {
#pragma omp parallel num_threads(threads) proc_bind(close)
    {
      const int n = omp_get_num_threads(), me = omp_get_thread_num(), even = n / places * places;
      const int behind = n <= places ? me : me < even ? me / (n / places) : me - even;
      for (int round = 0; round < 3; ++round) {
        require(omp_get_proc_bind() == bind_close, "the clause is told");
        require(omp_get_place_num() == (start + behind) % places, "close");
        require(omp_get_partition_num_places() == places, "close keeps the partition");
        check_mask();
#pragma omp barrier
      }
    }
#pragma omp parallel num_threads(threads) proc_bind(master)
    {
      require(omp_get_place_num() == start, "primary");
      check_mask();
    }
  }
}

static void spread(int places) {
  for (int threads = 2; threads <= places + 2; ++threads) {
    int *count = calloc((size_t)places, sizeof *count);
#pragma omp parallel num_threads(threads) proc_bind(spread)
    {
      int mine[CPU_SETSIZE];
      const int n = omp_get_partition_num_places();
      omp_get_partition_place_nums(mine);
      require(omp_get_proc_bind() == bind_spread, "the clause is told");
      require(n >= 1 && mine[0] <= omp_get_place_num() && omp_get_place_num() <= mine[n - 1],
              "it is in its partition");
      require(threads > places ? n == 1 : n == places / threads || n == places / threads + 1,
              "parts are even");
      for (int i = 0; i < n; ++i)
        __atomic_add_fetch(&count[mine[i]], 1, __ATOMIC_RELAXED);
      check_mask();
#pragma omp parallel num_threads(2) proc_bind(close)
      {
        require(omp_get_place_num() >= mine[0] && omp_get_place_num() <= mine[n - 1],
                "an inner team stays in its partition");
        check_mask();
      }
      check_mask();
    }
    for (int i = 0; i < places; ++i)
      require(threads <= places ? count[i] == 1 : count[i] >= 1, "partitions cover all places");
    free(count);
  }
}

int main(void) {
  const int places = omp_get_num_places();
  require(places >= 1, "OMP_PLACES");
  omp_set_max_active_levels(2);
  require(omp_get_partition_num_places() == places, "the initial partition");
  const int start = omp_get_place_num();
  close_and_primary(places, start);
  spread(places);
  require(omp_get_place_num() == start, "the first thread is back");
  puts("places: ok");
  return 0;
}

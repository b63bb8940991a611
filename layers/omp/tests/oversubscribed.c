// SPDX-License-Identifier: Apache-2.0
// Barriers and regions of more threads than cpus, in teams that grow and shrink. Some members come
// late, create tasks, nest regions or cancel.
// No member begins what follows too early, and no member is left behind.
#include <stdio.h>
#include <unistd.h>

extern int omp_get_thread_num(void); // not every compiler has its header here
extern void omp_set_max_active_levels(int);
extern void omp_set_dynamic(int);

enum { k_most = 12, k_regions = 400, k_barriers = 20 };
static int cells[k_most * 16];
static int tasks_run;
static int failures;

static unsigned next(unsigned *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 16; }

static void require(int holds, const char *what, int region) {
  if (!holds) {
    fprintf(stderr, "region %d: %s\n", region, what);
#pragma omp atomic
    ++failures;
  }
}

/// Waits, in some calls long enough that others end their watch or go to sleep.
static void come_late(unsigned *seed) {
  const unsigned n = next(seed) % 64;
  if (n == 0)
    usleep(200);
  else if (n < 4)
    for (volatile int i = 0; i < 40000; ++i)
      ;
}

static void check_step(int threads, int step, int region) {
  for (int i = 0; i < threads; ++i)
    require(cells[16 * i] == step, "a barrier releases a member too early", region);
}

/// Runs a region that a member cancels. That member comes late, so most members wait already at a
/// barrier that they then leave.
static void run_cancelled(int threads, unsigned *seed_of_region, int region) {
  int passed = 0;
  const int who = (int)(next(seed_of_region) % (unsigned)threads);
#pragma omp parallel num_threads(threads) reduction(+ : passed)
  {
    unsigned seed = *seed_of_region + (unsigned)omp_get_thread_num();
#pragma omp barrier
    if (omp_get_thread_num() == who) {
      come_late(&seed);
#pragma omp cancel parallel
    }
#pragma omp barrier
    ++passed;
  }
  require(passed == 0, "no member passes a barrier at which another one does not arrive", region);
}

static void run_region(int region, unsigned seed_of_region) {
  const int threads = 1 + (int)(seed_of_region % k_most);
  const int with_tasks = region % 7 == 0, nests = region % 11 == 0;
  int members = 0, inner = 0;
  tasks_run = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members, inner)
  {
    const int me = omp_get_thread_num();
    unsigned seed = seed_of_region + 977u * (unsigned)me;
    ++members;
    for (int n = 1; n <= k_barriers; ++n) {
      cells[16 * me] = n;
      come_late(&seed);
      if (with_tasks && n == k_barriers / 2 && me == threads / 2)
        for (int i = 0; i < 10; ++i) {
#pragma omp task
#pragma omp atomic
          ++tasks_run;
        }
#pragma omp barrier
      check_step(threads, n, region);
      require(!with_tasks || n < k_barriers / 2 || tasks_run == 10, "a barrier ends all tasks",
              region);
#pragma omp barrier
    }
    if (nests && me < 2) {
#pragma omp parallel num_threads(3) reduction(+ : inner)
      {
#pragma omp barrier
        ++inner;
      }
    }
  }
  require(members == threads, "all members run the region", region);
  require(!nests || inner == 3 * (threads < 2 ? threads : 2), "nested regions are whole", region);
  if (region % 5 == 0)
    run_cancelled(threads, &seed_of_region, region);
}

int main(void) {
  omp_set_max_active_levels(2);
  omp_set_dynamic(0);
  unsigned seed = 12345;
  for (int r = 0; r < k_regions; ++r) {
    run_region(r, next(&seed));
    if (r % 50 == 0)
      usleep(1000);
  }
  if (failures)
    return 1;
  puts("ok");
  return 0;
}

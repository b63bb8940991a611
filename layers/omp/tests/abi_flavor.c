/* SPDX-License-Identifier: Apache-2.0
   What programs of the two ABI flavors expect of their own runtime: the initial schedule of the
   ICV, when the runtime reads the environment, how much a pool has room for, LLVM's own schedules,
   and (compiled by Clang) omp_all_memory, which orders only tasks that have dependences. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void omp_get_schedule(int *kind, int *chunk);
void omp_set_schedule(int kind, int chunk);
int omp_get_thread_num(void);
struct trait {
  int key;
  uintptr_t value;
};
uintptr_t omp_init_allocator(uintptr_t space, int count, const struct trait *traits);
void omp_destroy_allocator(uintptr_t allocator);
void *omp_alloc(size_t bytes, uintptr_t allocator);
void omp_free(void *p, uintptr_t allocator);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "abi_flavor: %s\n", what);
    exit(1);
  }
}

static void has_schedule(int kind, int chunk, const char *what) {
  int k = 0, c = 0;
  omp_get_schedule(&k, &c);
  require(k == kind && c == chunk, what);
}

/* Checks the sum of a loop that has the ICV's schedule. */
static long sum(int n) {
  long all = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : all)
  for (int i = 0; i < n; ++i)
    all += i;
  return all;
}

/* Memory that belongs to a piece counts in the pool: two halves are more than the whole. */
static void pools(void) {
  enum { pool_size = 4, fallback = 5, null_fb = 12, half = 1 << 16 };
  const struct trait traits[] = {{pool_size, 2 * half}, {fallback, null_fb}};
  const uintptr_t a = omp_init_allocator(0, 2, traits);
  for (int round = 0; round < 3; ++round) {
    void *const one = omp_alloc(half, a), *const two = omp_alloc(half, a),
                *const small = omp_alloc(half / 2, a);
    require(one != NULL && two == NULL && small != NULL, "what a pool has room for");
    omp_free(one, a);
    omp_free(small, a);
  }
  omp_destroy_allocator(a);
}

#ifdef __clang__
typedef enum omp_event_handle_t { most = UINTPTR_MAX } omp_event_handle_t;
void omp_fulfill_event(omp_event_handle_t event);

/* The first task with omp_all_memory runs after the earlier siblings with dependences. It does not
   wait for a sibling without any, which cannot end yet. */
static void all_memory(int writers) {
  int places[40] = {0}, seen = 0, after = 0;
  omp_event_handle_t open;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task detach(open)
    {
    }
    for (int i = 0; i < writers; ++i) {
#pragma omp task depend(out : places[i]) firstprivate(i) shared(places)
      places[i] = 1;
    }
#pragma omp task depend(in : places[0]) shared(places)
    places[39] = places[0];
#pragma omp task depend(out : omp_all_memory) shared(places, seen)
    for (int i = 0; i < 40; ++i)
      seen += places[i];
#pragma omp task depend(in : places[3]) shared(seen, after)
    after = seen;
#pragma omp taskwait depend(out : omp_all_memory)
    require(
        seen == writers + 1 && after == seen,
        "omp_all_memory runs after tasks that named any place, and before tasks that name one later");
    omp_fulfill_event(open);
  }
}
#endif

int main(void) {
#ifdef __clang__
  setenv("OMP_SCHEDULE", "trapezoidal,3", 1); /* before the first call */
  has_schedule(101, 3, "the environment is read when the runtime is used first");
  require(sum(1000) == 499500, "trapezoidal");
  omp_set_schedule(1, 0);
  has_schedule(1, 0, "static");
  all_memory(30); /* the first in the process: no task reads the place of all memory yet */
  all_memory(5);
#else
  has_schedule(2, 1, "dynamic, 1");
#endif
  require(sum(1000) == 499500, "runtime");
  pools();
  puts("abi_flavor: ok");
  return 0;
}

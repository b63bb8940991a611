/* SPDX-License-Identifier: Apache-2.0
   counted CONSTRUCT THREADS TIMES: executes a construct so many times, for run_instructions. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_side = 32 };
static char place, cells[k_side + 1][k_side + 1];
static long done;

static void fork_join(int threads, long n) {
  for (long i = 0; i < n; ++i) {
#pragma omp parallel num_threads(threads)
    __asm__ volatile("");
  }
}

static void barrier(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n; ++i) {
#pragma omp barrier
  }
}

static void static_loop(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n; ++i) {
#pragma omp for schedule(static)
    for (int k = 0; k < threads; ++k)
      __asm__ volatile("");
  }
}

static void nested(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp parallel num_threads(threads)
    __asm__ volatile("");
  }
}

static void dynamic_loop(int threads, long n) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (long i = 0; i < n; ++i)
    __asm__ volatile("" : : "r"(i));
}

static void critical(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n / threads; ++i) {
#pragma omp critical
    ++done;
  }
}

static void locks(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n; ++i) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_destroy_lock(&lock);
  }
}

static void single(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n; ++i) {
#pragma omp single nowait
    ++done;
  }
}

static void task(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task
    __asm__ volatile("");
  }
}

static void chain(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task depend(inout : place)
    ++done;
  }
}

static void wavefront(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long k = 0; k < n; ++k) {
    const long i = 1 + k / k_side % k_side, j = 1 + k % k_side;
#pragma omp task firstprivate(i, j) depend(in : cells[i][j - 1], cells[i - 1][j])                  \
    depend(inout : cells[i][j])
    ++cells[i][j];
  }
}

static void waits(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task
    __asm__ volatile("");
#pragma omp taskwait
  }
}

static void priority(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task priority((int)(i % 2) + 1)
    __asm__ volatile("");
  }
}

static void priorities(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task priority((int)(i % 1000) + 1)
    __asm__ volatile("");
  }
}

static const struct {
  const char *name;
  void (*run)(int, long);
} k_constructs[] = {{"fork-join", fork_join}, {"barrier", barrier},
                    {"static", static_loop},  {"nested", nested},
                    {"dynamic", dynamic_loop},
                    {"critical", critical},   {"single", single},
                    {"locks", locks},
                    {"task", task},           {"chain", chain},
                    {"wavefront", wavefront}, {"taskwait", waits},
                    {"priority", priority},   {"priorities", priorities}};

int main(int argc, char **argv) {
  for (size_t i = 0; argc == 4 && i < sizeof k_constructs / sizeof *k_constructs; ++i)
    if (strcmp(argv[1], k_constructs[i].name) == 0)
      return k_constructs[i].run(atoi(argv[2]), atol(argv[3])), 0;
  fprintf(stderr, "usage: counted CONSTRUCT THREADS TIMES\n");
  return 2;
}

/* SPDX-License-Identifier: Apache-2.0
   taskloop, task reductions, sinks and sources, cancellation and detached tasks give what a serial
   program gives. GCC and Clang compile the program; it runs with OMP_CANCELLATION=true. */
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "more_constructs: %s\n", what);
    exit(1);
  }
}

static int hits[1000];
static void require_once(int n, int step, const char *what) {
  for (int i = 0; i < n; ++i) {
    require(hits[i] == (i % step == 0), what);
    hits[i] = 0;
  }
}
static void hit(int i) {
#pragma omp atomic
  hits[i]++;
}

static void taskloops(int n) {
  int last = -1;
  long sum = 0;
#pragma omp parallel
#pragma omp single
  {
    const int base = n;
#pragma omp taskloop firstprivate(base) lastprivate(last)
    for (int i = 0; i < n; ++i)
      hit(i + n - base), last = i;
    require(last == n - 1, "taskloop: lastprivate");
    require_once(n, 1, "taskloop");
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < n; i += 3)
      hit(i);
    require_once(n, 3, "taskloop with a grainsize");
#pragma omp taskloop num_tasks(5)
    for (int i = n - 1; i >= 0; --i)
      hit(i);
    require_once(n, 1, "taskloop downwards");
#pragma omp taskloop if (0)
    for (unsigned long long i = 0; i < (unsigned long long)n; ++i)
      hit((int)i);
    require_once(n, 1, "taskloop, undeferred");
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < n; ++i)
      sum += i;
    require(sum == (long)n * (n - 1) / 2, "taskloop: reduction");
#pragma omp taskgroup
    {
#pragma omp taskloop nogroup
      for (int i = 0; i < n; ++i)
        hit(i);
    }
    require_once(n, 1, "taskloop without a group");
  }
}

static void task_reductions(void) {
  long sum = 0, product = 1, whole = 5;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
    {
      for (int i = 1; i <= 20; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
        {
          sum += i;
#pragma omp task in_reduction(+ : sum)
          sum += 100;
#pragma omp taskwait
        }
        if (i <= 5) {
#pragma omp task in_reduction(* : product) firstprivate(i)
          product *= i;
        }
      }
    }
    require(sum == 210 + 2000, "task_reduction: sum");
    require(product == 120, "task_reduction: product");
  }
  int threads = 0;
#pragma omp parallel reduction(task, + : whole)
  {
#pragma omp single nowait
    threads = omp_get_num_threads();
    for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : whole)
      whole += 2;
    }
    whole += 1;
  }
  require(whole == 5 + 21 * threads, "reduction(task, ...) of a region");
  long of_loop = 0;
#pragma omp parallel
#pragma omp for reduction(task, + : of_loop)
  for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : of_loop) firstprivate(i)
    of_loop += i;
  }
  require(of_loop == 1225, "reduction(task, ...) of a loop");
}

static int grid[24][17];
static void doacross(void) {
  for (int kind = 0; kind < 2; ++kind) {
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 17; ++j)
        grid[i][j] = i == 0 || j == 0;
    if (kind == 0) {
#pragma omp parallel for ordered(2) schedule(dynamic)
      for (int i = 1; i < 24; ++i)
        for (int j = 1; j < 17; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 9973;
#pragma omp ordered depend(source)
        }
    } else {
#pragma omp parallel for ordered(2) schedule(static, 1)
      for (int i = 1; i < 24; ++i)
        for (int j = 1; j < 17; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 9973;
#pragma omp ordered depend(source)
        }
    }
    int serial[24][17];
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 17; ++j) {
        serial[i][j] = i == 0 || j == 0 ? 1 : (serial[i - 1][j] + serial[i][j - 1]) % 9973;
        require(serial[i][j] == grid[i][j], "sinks and sources");
      }
  }
}

/* A team shares the iterations of collapsed loops, so several members have a part of one outer
   iteration. Sinks that are no iterations, here i - 1 of the first i and j + 1 of the last j, wait for nothing. */
static void doacross_of_collapsed(void) {
  static int paths[9][7], box[5][4][3];
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 7; ++j)
      paths[i][j] = 0;
#pragma omp parallel for collapse(2) ordered(2) schedule(static, 1)
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 7; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i - 1, j + 1)
      paths[i][j] = i == 0 ? 1 : paths[i - 1][j] + (j == 6 ? 0 : paths[i - 1][j + 1]);
#pragma omp ordered depend(source)
    }
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 7; ++j)
      require(paths[i][j] == (i == 0 ? 1 : paths[i - 1][j] + (j == 6 ? 0 : paths[i - 1][j + 1])),
              "sinks and sources of two collapsed loops");
#pragma omp parallel for collapse(2) ordered(3) schedule(dynamic)
  for (int i = 4; i >= 0; --i)
    for (int j = 0; j < 8; j += 2)
      for (int k = 0; k < 3; ++k) {
#pragma omp ordered depend(sink : i + 1, j, k) depend(sink : i, j - 2, k) depend(sink : i, j, k - 1)
        box[i][j / 2][k] = (i < 4 ? box[i + 1][j / 2][k] : 0) + (j > 0 ? box[i][j / 2 - 1][k] : 0) + (k > 0 ? box[i][j / 2][k - 1] : 0) + 1;
#pragma omp ordered depend(source)
      }
  for (int i = 4; i >= 0; --i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k)
        require(box[i][j][k] == (i < 4 ? box[i + 1][j][k] : 0) + (j > 0 ? box[i][j - 1][k] : 0) + (k > 0 ? box[i][j][k - 1] : 0) + 1,
                "sinks and sources of two collapsed loops of three");
}

static void cancellations(void) {
  int after = 0, begun = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
      begun++;
#pragma omp cancel for
    }
#pragma omp atomic
    after++;
#pragma omp barrier
    require(after == omp_get_num_threads(), "a cancelled loop ends, and the region goes on");
  }
  require(begun >= 1 && begun < 1000, "a cancelled loop does not run all iterations");
  int ran = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    for (int i = 0; i < 100; ++i) {
#pragma omp task shared(ran)
      {
#pragma omp atomic
        ran++;
#pragma omp cancel taskgroup
      }
    }
  }
  require(ran >= 1 && ran <= 100, "a cancelled taskgroup ends");
  int past = 0;
#pragma omp parallel
  {
#pragma omp cancel parallel
#pragma omp atomic
    past++;
  }
  require(past == 0, "the member that cancels a region leaves it");
}

int main(void) {
  for (int round = 0; round < 10; ++round) {
    taskloops(1 + round * 97);
    task_reductions();
    doacross();
    doacross_of_collapsed();
    cancellations();
  }
  puts("more_constructs: ok");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
   Random tasks of every kind give what a serial program would give: trees with taskwait and
   taskgroup, parents that end before their children, chains and random dependences, undeferred
   tasks that wait, priorities, regions inside tasks, more tasks than may be ready. */
#include <stdio.h>
#include <stdlib.h>

int omp_get_num_threads(void);
int omp_get_thread_num(void);
void omp_set_max_active_levels(int);

static void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "tasks: %s\n", what);
    abort();
  }
}

static unsigned g_seed = 20240611u;
static unsigned draw(unsigned below) {
  g_seed = g_seed * 1664525u + 1013904223u;
  return (g_seed >> 8) % below;
}

static long fib(int n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b) if (n > 3)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

/* Only the group around all tasks waits for the children. */
static void orphans(int depth, long *sum) {
#pragma omp atomic
  ++*sum;
  if (depth == 0)
    return;
  for (int i = 0; i < 3; ++i) {
#pragma omp task firstprivate(depth, sum)
    orphans(depth - 1, sum);
  }
}

static long grouped(int depth) {
  long sum = 1;
  if (depth == 0)
    return sum;
#pragma omp taskgroup
  for (int i = 0; i < 2; ++i) {
#pragma omp task shared(sum) firstprivate(depth)
    {
      long below = 0;
#pragma omp task shared(below) firstprivate(depth) if (depth & 1)
      below = grouped(depth - 1);
#pragma omp taskwait
#pragma omp atomic
      sum += below;
    }
  }
  return sum;
}

enum { k_places = 7, k_steps = 400 };

/* Each place holds a hash of all that the tasks did to it, in order. */
static void random_graph(void) {
  unsigned places[k_places] = {0}, expected[k_places] = {0};
  for (unsigned i = 1; i <= k_steps; ++i) {
    const unsigned a = draw(k_places), b = draw(k_places), c = draw(k_places), kind = draw(4);
    switch (kind) {
    case 0:
      expected[a] = expected[a] * 31 + i;
#pragma omp task depend(inout : places[a]) shared(places) firstprivate(a, i)
      places[a] = places[a] * 31 + i;
      break;
    case 1:
      if (a == b)
        break;
      expected[a] += expected[b] * 7 + i;
#pragma omp task depend(inout : places[a]) depend(in : places[b]) shared(places)                   \
    firstprivate(a, b, i)
      places[a] += places[b] * 7 + i;
      break;
    case 2:
      if (a == b || b == c || a == c)
        break;
      expected[a] ^= expected[b] + expected[c] * 3 + i;
#pragma omp task depend(inout : places[a]) depend(in : places[b], places[c]) shared(places)        \
    firstprivate(a, b, c, i)
      {
        unsigned more = 0;
#pragma omp task shared(more) firstprivate(i)
        more = i;
#pragma omp taskwait
        places[a] ^= places[b] + places[c] * 3 + more;
      }
      break;
    default:
      if (i % 8 != 0)
        break;
      expected[a] += i;
#pragma omp task depend(inout : places[a]) shared(places) firstprivate(a, i) if (0)
      places[a] += i;
    }
  }
#pragma omp taskwait
  for (int i = 0; i < k_places; ++i)
    require(places[i] == expected[i], "a random graph");
}

static void regions(long *sum) {
  for (int i = 0; i < 6; ++i) {
#pragma omp task shared(sum) firstprivate(i)
    {
      long mine = 0;
#pragma omp parallel num_threads(1 + i % 3) reduction(+ : mine)
      {
#pragma omp single nowait
        for (int k = 0; k < 20; ++k) {
#pragma omp task shared(sum)
          {
#pragma omp atomic
            ++*sum;
          }
        }
        mine = 1;
      }
      require(mine == 1 + i % 3, "a region in a task");
    }
  }
#pragma omp taskwait
}

int main(void) {
  omp_set_max_active_levels(4);
  for (int round = 0; round < 6; ++round) {
    long tree = 0, spread = 0, groups = 0, inner = 0, many = 0, ranked = 0;
#pragma omp parallel
    {
#pragma omp single
      tree = fib(14);
#pragma omp single
#pragma omp taskgroup
      orphans(6, &spread);
#pragma omp single nowait
      groups = grouped(6);
#pragma omp barrier
#pragma omp single
      random_graph();
#pragma omp single
      regions(&inner);
#pragma omp single nowait
      for (int i = 0; i < 5000; ++i) {
#pragma omp task shared(many)
        {
#pragma omp atomic
          ++many;
        }
      }
#pragma omp barrier
#pragma omp single
      require(many == 5000, "a barrier waits for tasks");
      for (int i = 0; i < 50; ++i) { /* all members create tasks */
#pragma omp task shared(ranked) priority(i % 5)
        {
#pragma omp atomic
          ++ranked;
        }
      }
#pragma omp taskwait
#pragma omp barrier
#pragma omp single
      require(ranked == 50L * omp_get_num_threads(), "tasks of all members");
    }
    require(tree == 377, "a tree with taskwait");
    require(spread == 1093, "children of tasks that are over");
    require(groups == 127, "groups in tasks");
    require(inner == 120, "tasks of regions in tasks");
  }
  puts("tasks: ok");
  return 0;
}

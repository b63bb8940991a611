/* SPDX-License-Identifier: Apache-2.0
   Tasks that their creator runs at once: if(0), final, and outside regions; and what they leave
   when they end. */
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);
extern int omp_in_final(void);
extern void omp_set_num_threads(int);
extern int omp_get_max_threads(void);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "in_place: %s\n", what);
    exit(1);
  }
}

static long fib(int n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
#pragma omp task shared(a) if (n > 12) final(n < 8)
  a = fib(n - 1);
#pragma omp task shared(b) if (n > 12) final(n < 8)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

/* Creates children that outlast their parent and the task after it. */
static void children_stay(int rounds) {
  int done = 0, direct = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < rounds; ++i) {
#pragma omp task if (0) shared(done, direct)
      {
        const int here = omp_get_thread_num();
        for (int k = 0; k < 3; ++k) {
#pragma omp task shared(done)
          __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
        }
        omp_set_num_threads(100 + i % 5);
        require(omp_get_max_threads() == 100 + i % 5 && here == omp_get_thread_num(),
                "the task's own settings");
        ++direct;
      }
      require(direct == i + 1, "it is over when its creator goes on");
      require(omp_get_max_threads() < 100, "the creator's settings");
    }
    require(done == 3 * rounds, "the group waits for what its members left");
  }
}

static void finals(void) {
  int seen = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp task final(1) shared(seen)
  {
    require(omp_in_final(), "in a final task");
    int x = 0;
    for (int i = 0; i < 5; ++i) {
#pragma omp task shared(x) depend(inout : x)
      {
        require(omp_in_final() && x == i, "tasks below a final one come in turn");
        ++x;
      }
    }
    seen = x;
  }
  require(seen == 5, "all of them");
}

int main(void) {
  long n = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  n = fib(20);
  require(n == 6765 && fib(15) == 610,
          "a recursion that is run in place further down, in a region and outside");
  children_stay(2000);
  finals();
  puts("in_place: ok");
  return 0;
}

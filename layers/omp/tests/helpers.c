/* SPDX-License-Identifier: Apache-2.0
   LLVM's hidden helper threads. A `target nowait` runs beside the thread that asked for it, which
   need not come to a scheduling point, inside a region and outside. It runs in the order that
   `depend` gives, and ends before the program ends. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int __kmpc_global_thread_num(void *);
void *__kmpc_task_reduction_get_th_data(int, void *, void *);
int omp_get_num_threads(void); /* Clang's header is in a package of its own */

static int look(int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static void say(int *p, int value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }

static void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "wrong: %s\n", what);
    _exit(1);
  }
}

/* Ends only if the target task runs meanwhile. */
static void beside(void) {
  int asked = 0, answered = 0, number = -1;
#pragma omp target nowait map(tofrom : asked, answered, number)
  {
    number = __kmpc_global_thread_num(NULL);
    while (!look(&asked))
      usleep(100);
    say(&answered, 1);
  }
  say(&asked, 1);
  while (!look(&answered))
    sched_yield();
#pragma omp taskwait
  require(number > 0 && number <= 8, "the number of a helper");
}

static void in_order(void) {
  int value = 0, seen = 0;
#pragma omp task depend(out : value) shared(value)
  value = 1;
#pragma omp target nowait depend(inout : value) map(tofrom : value)
  value = value == 1 ? 2 : -1;
#pragma omp task depend(in : value) shared(value, seen)
  seen = value;
#pragma omp taskwait
  require(seen == 2, "the order that depend gives");
}

/* A helper's task is like a thread of its own: it may have regions, tasks and waits. */
static void nested(void) {
  enum { k_many = 20 };
  int sums[k_many] = {0};
#pragma omp taskgroup
  for (int i = 0; i < k_many; ++i) {
#pragma omp target nowait map(tofrom : sums[i])
    {
#pragma omp parallel num_threads(3)
      {
#pragma omp task
        {
#pragma omp atomic
          sums[i] += 1;
        }
#pragma omp taskwait
      }
    }
  }
  for (int i = 0; i < k_many; ++i)
    require(sums[i] == 3, "regions and tasks in a helper's task");
}

/* Adds to the caller's copy of a variable that the group around its task reduces, and waits until as
   many others do. Clang 19 asks for the copy in `target in_reduction`, and then takes the variable. */
enum { k_targets = 3 };
struct reduction {
  long sum;
  int there;
  long *copies[k_targets + 1];
};
static void add(struct reduction *to, int number) {
  long *const mine =
      __kmpc_task_reduction_get_th_data(__kmpc_global_thread_num(NULL), NULL, &to->sum);
  *mine += 1;
  to->copies[number] = mine;
  __atomic_fetch_add(&to->there, 1, __ATOMIC_ACQ_REL);
  while (look(&to->there) <= k_targets)
    usleep(100);
  long *const of_other = to->copies[(number + 1) % (k_targets + 1)];
  require(__kmpc_task_reduction_get_th_data(__kmpc_global_thread_num(NULL), NULL, of_other) == mine,
          "a thread finds its copy by another one's");
}

/* Returns the bytes of memory that the process has asked for. */
static long asked_for(void) {
  long pages = 0;
  FILE *const statm = fopen("/proc/self/statm", "r");
  require(statm != NULL && fscanf(statm, "%ld", &pages) == 1, "the size of the process");
  fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

/* A large variable has copies for the members of the team, and none for helpers that ask for none. */
enum { k_longs = 1 << 22, k_members = 2 };
static long large[k_longs];
static void reduced_large(void) {
  long before = 0, within = 0;
#pragma omp parallel num_threads(k_members)
#pragma omp single
  {
    before = asked_for();
#pragma omp taskgroup task_reduction(+ : large)
    {
      within = asked_for();
      for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : large)
        large[k_longs - 1] += i;
      }
    }
  }
  require(large[k_longs - 1] == 45, "the reduction of a large variable");
  enum { k_slack = 4 }; /* copies: another thread's first malloc() takes 128 MiB of addresses for a moment */
  require(within - before < (k_members + k_slack) * (long)sizeof large, "the copies of a large variable");
}

/* Helpers and members that add to a variable at the same time have a copy each. */
static void reduced(void) {
  struct reduction r = {0};
  long *const sum = &r.sum;
#pragma omp taskgroup task_reduction(+ : sum[0])
  {
    for (int i = 0; i < k_targets; ++i) {
#pragma omp target nowait map(tofrom : r)
      add(&r, i);
    }
#pragma omp task shared(r)
    add(&r, k_targets);
  }
  require(r.sum == k_targets + 1, "a reduction of helpers and members");
  for (int i = 0; i < k_targets; ++i)
    for (int k = i + 1; k <= k_targets; ++k)
      require(r.copies[i] != r.copies[k], "threads that reduce share no copy");
}

static void all(void) {
  beside();
  in_order();
}

/* Runs in a child of fork(), which has helpers of its own. */
static void at_exit(void) {
  int ends[2];
  require(pipe(ends) == 0, "a pipe");
  const pid_t child = fork();
  if (child == 0) {
#pragma omp target nowait
    {
      usleep(20000);
      if (write(ends[1], "x", 1) != 1)
        abort();
    }
    exit(0);
  }
  close(ends[1]);
  char got = 0;
  require(read(ends[0], &got, 1) == 1, "what was asked for is over before the program ends");
  int status = -1;
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "the child ends well");
}

int main(void) {
  all();
#pragma omp parallel
  for (int i = 0; i < 5; ++i)
    all();
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp target nowait
    require(omp_get_num_threads() == 1, "a helper has no team");
  } /* the barrier waits for the tasks */
  nested();
  reduced_large(); /* there are helpers, and none of them reduces it */
  reduced();
#pragma omp parallel num_threads(3)
#pragma omp single
  reduced();
#if !defined(__has_feature) ||                                                                     \
    !__has_feature(thread_sanitizer) /* there the child of a program with threads has none */
  at_exit();
#endif
  return 0;
}

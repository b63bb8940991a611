// SPDX-License-Identifier: Apache-2.0
// Constructs of all kinds, for a tool (ompt_tool.c) to look at. Prints how often each kind of event
// has to come, where the number is known.
#include <omp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { k_rounds = 20, k_iterations = 101, k_tasks = 40 };
static int expected = 1;

static long sum;

static void tree(int depth) {
  if (depth == 0)
    return;
#pragma omp task
  tree(depth - 1);
#pragma omp task
  tree(depth - 1);
#pragma omp taskwait
}

static void loops(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3) reduction(+ : sum)
    for (int i = 0; i < k_iterations; ++i)
      ++sum;
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < k_iterations; ++i)
      __asm__ volatile("");
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 8; ++i) {
#pragma omp ordered
      ++sum;
    }
#pragma omp sections
    {
#pragma omp section
      __asm__ volatile("");
#pragma omp section
      __asm__ volatile("");
    }
#pragma omp single
    __asm__ volatile("");
#pragma omp single nowait
    __asm__ volatile("");
#pragma omp barrier
  }
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < k_iterations; ++i)
    __asm__ volatile("");
}

/// Is in the tool, if that is linked with the program.
extern void tool_checks_frames(void *creator) __attribute__((weak));

/// Clang's code runs the body of such a task itself, so the frame is the caller's of the library.
static __attribute__((noinline)) void undeferred_here(void) {
#ifdef __clang__
  void *const creator = __builtin_frame_address(0);
#pragma omp task if (0)
  if (tool_checks_frames)
    tool_checks_frames(creator);
#endif
}

/// Returns how many pairs of tasks the tool knows of which one follows the other; in the tool.
extern long tool_pairs(void) __attribute__((weak));

/// A task that names all memory follows all, and all later ones follow it. One thread, so that none is
/// over before the others are made.
static void all_memory(void) {
#ifdef __clang__
  enum { k_pairs = 7 };
  char a = 0, b = 0, c = 0;
  long pairs = 0;
#pragma omp parallel num_threads(1)
  {
    const long before = tool_pairs ? tool_pairs() : -1;
#pragma omp task depend(out : a)
    ++a;
#pragma omp task depend(out : b)
    ++b;
#pragma omp task depend(out : omp_all_memory)
    ++a;
#pragma omp task depend(in : a)
    ++b;
#pragma omp task depend(in : c)
    ++c;
#pragma omp task depend(inout : omp_all_memory)
    ++c;
    pairs = before >= 0 ? tool_pairs() - before : k_pairs;
  }
  if (pairs != k_pairs)
    fprintf(stderr, "ompt: %ld pairs of tasks around omp_all_memory, not %d\n", pairs, k_pairs);
  expected &= pairs == k_pairs && a == 2 && b == 2 && c == 2;
#endif
}

static void tasks(void) {
  char place = 0;
#pragma omp parallel
#pragma omp single
  {
    undeferred_here();
    tree(4);
    for (int i = 0; i < k_tasks; ++i) {
#pragma omp task depend(inout : place)
      ++place;
    }
#pragma omp taskgroup
    {
#pragma omp task untied
      __asm__ volatile("");
#pragma omp task if (0)
      __asm__ volatile("");
#pragma omp task final(1)
      tree(2);
    }
#pragma omp taskloop num_tasks(5)
    for (int i = 0; i < 50; ++i)
      __asm__ volatile("");
#pragma omp taskyield
    omp_event_handle_t event;
#pragma omp task detach(event)
    __asm__ volatile("");
    omp_fulfill_event(event);
  }
  expected &= place == k_tasks;
  all_memory();
}

static void regions(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
    }
#pragma omp parallel if (0)
    {
#pragma omp task
      __asm__ volatile("");
    }
  }
}

static void locks(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  long under_lock = 0, under_nest = 0, in_critical = 0;
#pragma omp parallel
  for (int i = 0; i < 10; ++i) {
    omp_set_lock(&lock);
    ++under_lock;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    ++under_nest;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    while (!omp_test_lock(&lock)) {
    }
    ++under_lock;
    omp_unset_lock(&lock);
#pragma omp critical(name)
    ++in_critical;
  }
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  expected &= under_lock == 20L * threads && under_nest == 10L * threads;
  expected &= in_critical == 10L * threads;
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static void cancelled(void) {
#pragma omp parallel
  {
#pragma omp cancel parallel
  }
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
    for (int i = 0; i < 10; ++i) {
#pragma omp task
      __asm__ volatile("");
    }
  }
}

/// A task whose group is cancelled before it begins ends without its event, which the program
/// fulfils later, or never.
static void discarded_with_event(int fulfils) {
  char place = 0;
  omp_event_handle_t event;
#pragma omp parallel shared(event)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task depend(out : place)
    {
#pragma omp cancel taskgroup
    }
#pragma omp task depend(in : place) detach(event)
    expected = 0;
  }
  if (fulfils)
    omp_fulfill_event(event);
}

#ifdef __clang__
static void of_clang(void) {
#pragma omp parallel
  {
#pragma omp for schedule(static, 2)
    for (int i = 0; i < k_iterations; ++i)
      __asm__ volatile("");
#pragma omp masked
    __asm__ volatile("");
#pragma omp flush
  }
  expected &= omp_control_tool(omp_control_tool_flush, 7, NULL) == atoi(getenv("OMPT_CONTROL"));
}
#endif

static void all(void) {
  for (int i = 0; i < k_rounds; ++i) {
    loops();
    tasks();
    regions();
    locks();
    cancelled();
    discarded_with_event(i % 2);
  }
}

int main(int argc, char **argv) {
  omp_set_max_active_levels(3);
#ifdef __clang__
  if (argc > 1 && strcmp(argv[1], "end") == 0) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_destroy_lock(&lock);
    return omp_control_tool(omp_control_tool_end, 0, NULL) == 42 ? 0 : 1;
  }
#endif
  all();
#ifdef __clang__
  of_clang();
#endif
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      all();
      exit(expected ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expected &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    all();
  }
  if (!expected)
    fprintf(stderr, "ompt: a result is wrong\n");
  return expected ? 0 : 1;
}

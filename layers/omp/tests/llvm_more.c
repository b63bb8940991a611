/* SPDX-License-Identifier: Apache-2.0
   More entry points of LLVM's ABI that Intel's compilers call: wide and mixed atomics, locks,
   sections, loops of a league, masks of cpus. Clang, which declares none of them, compiles the
   program. */
#include <complex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef float _Complex cmplx4;
typedef double _Complex cmplx8;
typedef long double _Complex cmplx10;
void __kmpc_atomic_float10_add(void *, int, long double *, long double);
long double __kmpc_atomic_float10_max_cpt(void *, int, long double *, long double, int);
void __kmpc_atomic_cmplx4_add(void *, int, cmplx4 *, cmplx4);
void __kmpc_atomic_cmplx4_sub_cpt(void *, int, cmplx4 *, cmplx4, cmplx4 *, int);
void __kmpc_atomic_cmplx4_mul_cmplx8(void *, int, cmplx4 *, cmplx8);
void __kmpc_atomic_cmplx8_add(void *, int, cmplx8 *, cmplx8);
cmplx8 __kmpc_atomic_cmplx8_div_cpt_rev(void *, int, cmplx8 *, cmplx8, int);
cmplx10 __kmpc_atomic_cmplx10_swp(void *, int, cmplx10 *, cmplx10);
void __kmpc_atomic_fixed2_mul_float8(void *, int, int16_t *, double);
void __kmpc_atomic_float4_add_float8(void *, int, float *, double);
_Bool __kmpc_atomic_bool_4_cas(void *, int, int32_t *, int32_t, int32_t);
int64_t __kmpc_atomic_val_8_cas_cpt(void *, int, int64_t *, int64_t, int64_t, int64_t *);
void __kmpc_init_lock(void *, int, void *);
void __kmpc_set_lock(void *, int, void *);
int __kmpc_test_lock(void *, int, void *);
void __kmpc_unset_lock(void *, int, void *);
void __kmpc_init_nest_lock(void *, int, void *);
void __kmpc_set_nest_lock(void *, int, void *);
int __kmpc_test_nest_lock(void *, int, void *);
void __kmpc_unset_nest_lock(void *, int, void *);
void __kmpc_destroy_nest_lock(void *, int, void *);
int __kmpc_sections_init(void *, int);
int __kmpc_next_section(void *, int, int);
void __kmpc_end_sections(void *, int);
void __kmpc_dist_for_static_init_4(void *, int, int, int *, int *, int *, int *, int *, int, int);
void __kmpc_team_static_init_4(void *, int, int *, int *, int *, int *, int, int);
void kmp_create_affinity_mask(void **);
void kmp_destroy_affinity_mask(void **);
int kmp_set_affinity_mask_proc(int, void **);
int kmp_get_affinity_mask_proc(int, void **);
int kmp_set_affinity(void **);
int kmp_get_affinity(void **);
int kmp_get_affinity_max_proc(void);
void ompc_set_num_threads(int);
int omp_in_explicit_task(void);
int omp_control_tool(int, int, void *);
extern int omp_get_team_num(void);
extern int omp_get_thread_num(void);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "llvm_more: %s\n", what);
    exit(1);
  }
}

enum { threads = 6, times = 300 };

static void atomics(void) {
  long double wide = 0, most = 0;
  cmplx4 small = 0;
  cmplx8 middle = 0;
  float narrow = 0;
  int32_t turns = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < times; ++i) {
    __kmpc_atomic_float10_add(0, 0, &wide, 0.5L);
    __kmpc_atomic_float10_max_cpt(0, 0, &most, i, 1);
    __kmpc_atomic_cmplx4_add(0, 0, &small, 1 + 2 * I);
    __kmpc_atomic_cmplx8_add(0, 0, &middle, 3 - 1 * I);
    __kmpc_atomic_float4_add_float8(0, 0, &narrow, 1.0);
    for (int32_t seen = __atomic_load_n(&turns, __ATOMIC_RELAXED);
         !__kmpc_atomic_bool_4_cas(0, 0, &turns, seen, seen + 1);)
      seen = __atomic_load_n(&turns, __ATOMIC_RELAXED);
  }
  const int n = threads * times;
  require(wide == n * 0.5L && most == times - 1, "80 bits");
  require(small == n + 2.0f * n * I && middle == 3.0 * n - 1.0 * n * I, "complex numbers");
  require(narrow == n && turns == n, "a wider operand, compare and swap");
  cmplx4 before = 0;
  small = 5;
  __kmpc_atomic_cmplx4_sub_cpt(0, 0, &small, 2, &before, 0);
  require(before == 5 && small == 3, "the value before, through a pointer");
  __kmpc_atomic_cmplx4_mul_cmplx8(0, 0, &small, 2 * I);
  require(small == 6 * I, "complex by a wider one");
  middle = 2;
  require(__kmpc_atomic_cmplx8_div_cpt_rev(0, 0, &middle, 8, 1) == 4, "reversed operands");
  cmplx10 huge = 1;
  require(__kmpc_atomic_cmplx10_swp(0, 0, &huge, 2) == 1 && huge == 2, "swap");
  int16_t short_one = 10;
  __kmpc_atomic_fixed2_mul_float8(0, 0, &short_one, 2.55);
  require(short_one == 25, "an integer by a floating-point number");
  int64_t word = 4, seen = 0;
  require(__kmpc_atomic_val_8_cas_cpt(0, 0, &word, 4, 9, &seen) == 4 && seen == 9 && word == 9,
          "what is there in the end");
}

static void locks(void) {
  void *lock = 0, *nest = 0;
  int sum = 0;
  __kmpc_init_lock(0, 0, &lock);
  __kmpc_init_nest_lock(0, 0, &nest);
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < times; ++i) {
    if (i % 2)
      __kmpc_set_lock(0, 0, &lock);
    else
      while (!__kmpc_test_lock(0, 0, &lock)) {
      }
    ++sum;
    __kmpc_unset_lock(0, 0, &lock);
    __kmpc_set_nest_lock(0, 0, &nest);
    require(__kmpc_test_nest_lock(0, 0, &nest) == 2, "a nestable lock");
    __kmpc_unset_nest_lock(0, 0, &nest);
    __kmpc_unset_nest_lock(0, 0, &nest);
  }
  __kmpc_destroy_nest_lock(0, 0, &nest);
  require(sum == threads * times, "a lock");
}

static void sections(void) {
  int done[5] = {0};
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 10; ++round) {
    for (int s = __kmpc_sections_init(0, 0); s < 5; s = __kmpc_next_section(0, 0, 5))
      __atomic_add_fetch(&done[s], 1, __ATOMIC_RELAXED);
    __kmpc_end_sections(0, 0);
#pragma omp barrier
  }
  for (int s = 0; s < 5; ++s)
    require(done[s] == 10, "each section once");
}

static void leagues(void) {
  enum { length = 103 };
  int one[length] = {0}, two[length] = {0}, last = 0;
#pragma omp teams num_teams(3)
  {
#pragma omp parallel num_threads(4)
    {
      int is_last = 0, low = 0, high = length - 1, team_high = 0, stride = 1;
      __kmpc_dist_for_static_init_4(0, 0, 34, &is_last, &low, &high, &team_high, &stride, 1, 1);
      require(high <= team_high, "a thread's part lies in its team's");
      for (int i = low; i <= high; ++i)
        __atomic_add_fetch(&one[i], 1, __ATOMIC_RELAXED);
      __atomic_add_fetch(&last, is_last, __ATOMIC_RELAXED);
    }
    int is_last = 0, low = 0, high = length - 1, stride = 1;
    __kmpc_team_static_init_4(0, 0, &is_last, &low, &high, &stride, 1, 10);
    for (; low < length; low += stride, high += stride)
      for (int i = low; i <= high && i < length; ++i)
        __atomic_add_fetch(&two[i], 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < length; ++i)
    require(one[i] == 1 && two[i] == 1, "each iteration once in the league");
  require(last == 1, "one last iteration");
}

static void masks(void) {
  void *all = 0, *one = 0, *seen = 0;
  kmp_create_affinity_mask(&all);
  kmp_create_affinity_mask(&one);
  kmp_create_affinity_mask(&seen);
  require(kmp_get_affinity(&all) == 0, "the mask of the process");
  int cpu = -1;
  for (int i = kmp_get_affinity_max_proc(); i-- > 0;)
    if (kmp_get_affinity_mask_proc(i, &all) == 1)
      cpu = i;
  require(cpu >= 0 && kmp_set_affinity_mask_proc(cpu, &one) == 0, "a cpu");
  require(kmp_set_affinity_mask_proc(1 << 20, &one) != 0, "a cpu that there is not");
#pragma omp parallel num_threads(2)
  {
    if (omp_get_team_num() == 0)
      require(kmp_set_affinity(&one) == 0, "a thread is bound");
#pragma omp barrier
#pragma omp single
    {
      require(kmp_get_affinity(&seen) == 0, "the mask of a thread");
      require(kmp_get_affinity_mask_proc(cpu, &seen) == 1, "its cpu");
    }
  }
  require(kmp_set_affinity(&all) == 0, "and set free");
  kmp_destroy_affinity_mask(&all);
  kmp_destroy_affinity_mask(&one);
  kmp_destroy_affinity_mask(&seen);
}

void omp_set_max_active_levels(int);
void __kmpc_push_num_threads_list(void *, int, unsigned, int *);
void __kmpc_push_num_threads_strict(void *, int, int, int, const char *);
int omp_get_num_threads(void);

static void lists(void) {
  int sizes[3] = {0, 0, 0}, list[2] = {2, 3};
  omp_set_max_active_levels(3);
  __kmpc_push_num_threads_list(0, 0, 2, list);
#pragma omp parallel
#pragma omp single
  {
    sizes[0] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
    {
      sizes[1] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
      sizes[2] = omp_get_num_threads();
    }
  }
  require(sizes[0] == 2 && sizes[1] == 3 && sizes[2] == 3,
          "num_threads(2, 3), and the last for what is deeper");
  __kmpc_push_num_threads_strict(0, 0, 4, 1, 0);
#pragma omp parallel
#pragma omp single
  sizes[0] = omp_get_num_threads();
  require(sizes[0] == 4, "num_threads(strict: 4)");
}

/* Clang cuts an untied task into parts, and asks for the next part where the task may change its
   thread. */
static void untied_parts(void) {
  int steps = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 50; ++i) {
#pragma omp task untied shared(steps)
      {
#pragma omp atomic
        ++steps;
#pragma omp taskyield
#pragma omp atomic
        ++steps;
#pragma omp taskyield
#pragma omp atomic
        ++steps;
      }
    }
#pragma omp task untied if (0) shared(steps)
    {
#pragma omp taskyield
#pragma omp atomic
      ++steps;
    }
  }
  require(steps == 151, "all parts of untied tasks, once each");
}

static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
static int is_set(const int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }

/* The part behind a taskwait comes after the thread's other tasks, so that an idle thread takes it.
   The other task holds up the thread until then. */
static void untied_part_moves(void) {
  int first = -1, second = -1, other_began = 0, is_over = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
#pragma omp task shared(other_began, is_over)
    {
      set(&other_began);
      while (!is_set(&is_over))
        sched_yield();
    }
#pragma omp task untied shared(first, second, is_over)
    {
      first = omp_get_thread_num();
#pragma omp taskwait
      second = omp_get_thread_num();
      set(&is_over);
    }
  } else {
    while (!is_set(&other_began) && !is_set(&is_over))
      sched_yield();
  }
  require(first == 0 && second == 1, "an idle thread goes on with an untied task");
}

/* A task that has begun goes on, though its group is cancelled, until it looks at that. */
static void untied_parts_in_a_cancelled_group(void) {
  int steps = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task untied shared(steps)
    {
      ++steps;
#pragma omp task
      {
#pragma omp cancel taskgroup
      }
#pragma omp taskwait
      ++steps;
#pragma omp taskyield
      ++steps;
    }
  }
  require(steps == 3, "all parts of a task that has begun");
}

enum { untied_tasks = 50 };
static int children_over[untied_tasks];

static void end_child_of(int i) {
#pragma omp atomic
  ++children_over[i];
}

/* The next part of an untied task waits for children of the part before. */
static void untied_parts_with_children(void) {
  static int after_group[untied_tasks], after_wait[untied_tasks];
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < untied_tasks; ++i) {
#pragma omp task untied firstprivate(i)
    {
#pragma omp taskgroup
      {
#pragma omp task firstprivate(i)
        end_child_of(i);
#pragma omp taskyield
#pragma omp task firstprivate(i)
        end_child_of(i);
#pragma omp taskyield
      }
#pragma omp atomic read
      after_group[i] = children_over[i];
#pragma omp task firstprivate(i)
      end_child_of(i);
#pragma omp taskyield
#pragma omp taskwait
#pragma omp atomic read
      after_wait[i] = children_over[i];
    }
  }
  for (int i = 0; i < untied_tasks; ++i)
    require(after_group[i] == 2 && after_wait[i] == 3, "a part waits for children of other parts");
}

int main(void) {
  lists();
  untied_parts();
  untied_part_moves();
  untied_parts_in_a_cancelled_group();
  untied_parts_with_children();
  atomics();
  locks();
  sections();
  leagues();
  masks();
  int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task shared(inside)
  inside = omp_in_explicit_task();
  require(inside == 1 && omp_in_explicit_task() == 0, "omp_in_explicit_task");
  require(omp_control_tool(1, 0, 0) == -2, "there is no tool");
  puts("llvm_more: ok");
  return 0;
}

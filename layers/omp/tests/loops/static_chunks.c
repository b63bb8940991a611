/* SPDX-License-Identifier: Apache-2.0
   Loops that are too long to be run, at the entry points. The chunks that the members of a team
   get, by the calls that Clang makes for a loop, are the whole loop and nothing else.
   Static chunks are handed out in turn, as the specification requires, wherever the type of the
   loop has room for that. The same holds for loops whose chunks GCC's programs ask for one by one.
   */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern _Bool GOMP_loop_ull_dynamic_start(_Bool, unsigned long long, unsigned long long,
                                         unsigned long long, unsigned long long,
                                         unsigned long long *, unsigned long long *);
extern _Bool GOMP_loop_ull_dynamic_next(unsigned long long *, unsigned long long *);
extern _Bool GOMP_loop_ull_guided_start(_Bool, unsigned long long, unsigned long long,
                                        unsigned long long, unsigned long long,
                                        unsigned long long *, unsigned long long *);
extern _Bool GOMP_loop_ull_guided_next(unsigned long long *, unsigned long long *);
extern _Bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
extern _Bool GOMP_loop_dynamic_next(long *, long *);
extern void GOMP_loop_end_nowait(void);

struct run {
  uint64_t first, last;
  int member;
};
enum { most = 4096 };
static struct run runs[most];
static unsigned got, lasts;

static void note(uint64_t first, uint64_t last) {
  const unsigned at = __atomic_fetch_add(&got, 1, __ATOMIC_RELAXED);
  if (at < most)
    runs[at] = (struct run){first, last, omp_get_thread_num()};
}

static int by_begin(const void *a, const void *b) {
  const struct run *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Checks that the runs are the iterations [0, total - 1]. `chunk`: the size of equal chunks that n
   members get in turn; 0: any chunks. */
static void check(const char *what, uint64_t total, uint64_t chunk, int n, unsigned lasts_wanted) {
  int holds = got > 0 && got <= most && lasts == lasts_wanted;
  qsort(runs, got < most ? got : most, sizeof *runs, by_begin);
  uint64_t next = 0;
  for (unsigned i = 0; holds && i < got; ++i) {
    holds = runs[i].first == next && runs[i].last >= next &&
            (i + 1 != got || runs[i].last == total - 1);
    if (holds && chunk != 0)
      holds = runs[i].member == (int)(i % (unsigned)n) &&
              (runs[i].last - next == chunk - 1 || i + 1 == got);
    next = runs[i].last + 1;
  }
  if (!holds) {
    fprintf(stderr,
            "static_chunks: %s: %lu iterations, chunk %lu, %d members: %u runs, %u of them last\n",
            what, (unsigned long)total, (unsigned long)chunk, n, got, lasts);
    for (unsigned i = 0; i < got && i < 8; ++i)
      fprintf(stderr, "  %lu to %lu by %d\n", (unsigned long)runs[i].first,
              (unsigned long)runs[i].last, runs[i].member);
    exit(1);
  }
  got = lasts = 0;
}

#define KIND(SUFFIX, T, S)                                                                         \
  extern void __kmpc_for_static_init_##SUFFIX(void *, int, int, int *, T *, T *, S *, S, S);       \
  extern void __kmpc_dispatch_init_##SUFFIX(void *, int, int, T, T, S, S);                         \
  extern int __kmpc_dispatch_next_##SUFFIX(void *, int, int *, T *, T *, S *);                     \
  static void in_turn_##SUFFIX(T total, S chunk, int n, int in_turn) {                             \
    _Pragma("omp parallel num_threads(n)") {                                                       \
      const T end = total - 1;                                                                     \
      T low = 0, high = end;                                                                       \
      S stride = 1;                                                                                \
      int last = 0;                                                                                \
      __kmpc_for_static_init_##SUFFIX(0, omp_get_thread_num(), 33, &last, &low, &high, &stride, 1, \
                                      chunk);                                                      \
      for (int rounds = 0; rounds < most; ++rounds) {                                              \
        high = high > end ? end : high;                                                            \
        if (low > high)                                                                            \
          break;                                                                                   \
        note((uint64_t)low, (uint64_t)high);                                                       \
        __builtin_add_overflow(low, (T)stride, &low);                                              \
        __builtin_add_overflow(high, (T)stride, &high);                                            \
      }                                                                                            \
      __atomic_fetch_add(&lasts, last != 0, __ATOMIC_RELAXED);                                     \
    }                                                                                              \
    check("static, " #SUFFIX, (uint64_t)total, in_turn ? (uint64_t)chunk : 0, n, 1);               \
  }                                                                                                \
  /* A loop that ends with its type, upwards or downwards. */                                      \
  static void to_the_end_##SUFFIX(T limit, int step, T total, S chunk, int n) {                    \
    _Pragma("omp parallel num_threads(n)") {                                                       \
      const T from = (T)(step > 0 ? limit - (total - 1) : limit + (total - 1));                    \
      T low = from, high = limit;                                                                  \
      S stride = 1;                                                                                \
      int last = 0;                                                                                \
      __kmpc_for_static_init_##SUFFIX(0, omp_get_thread_num(), 33, &last, &low, &high, &stride,    \
                                      step, chunk);                                                \
      for (int rounds = 0; rounds < most && (step > 0 ? low <= high : low >= high); ++rounds) {    \
        note((uint64_t)(T)(step > 0 ? low - from : from - low),                                    \
             (uint64_t)(T)(step > 0 ? high - from : from - high));                                 \
        __builtin_add_overflow(low, (T)stride, &low);                                              \
        __builtin_add_overflow(high, (T)stride, &high);                                            \
      }                                                                                            \
      __atomic_fetch_add(&lasts, last != 0, __ATOMIC_RELAXED);                                     \
    }                                                                                              \
    check("static, to the end, " #SUFFIX, (uint64_t)total, 0, n, 1);                               \
  }                                                                                                \
  static void asked_for_##SUFFIX(int schedule, T total, S chunk, int n) {                          \
    _Pragma("omp parallel num_threads(n)") {                                                       \
      T low, high;                                                                                 \
      S stride;                                                                                    \
      int last = 0;                                                                                \
      __kmpc_dispatch_init_##SUFFIX(0, omp_get_thread_num(), schedule, 0, total - 1, 1, chunk);    \
      while (                                                                                      \
          __kmpc_dispatch_next_##SUFFIX(0, omp_get_thread_num(), &last, &low, &high, &stride)) {   \
        note((uint64_t)low, (uint64_t)high);                                                       \
        __atomic_fetch_add(&lasts, last != 0, __ATOMIC_RELAXED);                                   \
      }                                                                                            \
    }                                                                                              \
    check("asked for, " #SUFFIX, (uint64_t)total, 0, n, 1);                                        \
  }                                                                                                \
  /* A loop of steps that its last value does not hit. */                                          \
  static void by_steps_##SUFFIX(int schedule, T total, int step, S chunk, int n) {                 \
    _Pragma("omp parallel num_threads(n)") {                                                       \
      const T size = (T)(step > 0 ? step : -step), less = (T)((total - 1) * size);                 \
      const T from = (T)(step > 0 ? 10 : 10 + less), end = (T)(step > 0 ? 10 + less : 10);         \
      T low, high;                                                                                 \
      S stride;                                                                                    \
      int last = 0;                                                                                \
      __kmpc_dispatch_init_##SUFFIX(0, omp_get_thread_num(), schedule, from,                       \
                                    (T)(step > 0 ? end + (size - 1) : end - (size - 1)), step,     \
                                    chunk);                                                        \
      while (                                                                                      \
          __kmpc_dispatch_next_##SUFFIX(0, omp_get_thread_num(), &last, &low, &high, &stride)) {   \
        note((uint64_t)(T)((step > 0 ? low - from : from - low) / size),                           \
             (uint64_t)(T)((step > 0 ? high - from : from - high) / size));                        \
        __atomic_fetch_add(&lasts, last != 0, __ATOMIC_RELAXED);                                   \
      }                                                                                            \
    }                                                                                              \
    check("by steps, " #SUFFIX, (uint64_t)total, 0, n, 1);                                         \
  }                                                                                                \
  static void empty_##SUFFIX(int schedule, T from, T to, int step) {                               \
    T low = 0, high = 0;                                                                           \
    S stride = 0;                                                                                  \
    int last = 0;                                                                                  \
    __kmpc_dispatch_init_##SUFFIX(0, omp_get_thread_num(), schedule, from, to, step, 1);           \
    if (__kmpc_dispatch_next_##SUFFIX(0, omp_get_thread_num(), &last, &low, &high, &stride)) {     \
      fprintf(stderr, "static_chunks: an empty loop, " #SUFFIX ", has a chunk\n");                 \
      exit(1);                                                                                     \
    }                                                                                              \
  }                                                                                                \
  static void all_##SUFFIX(T limit, S most_of_chunk) {                                             \
    for (int n = 1; n <= 7; n += 2) {                                                              \
      for (T total = 2; total <= 9; ++total)                                                       \
        for (S chunk = 1; chunk <= 10; ++chunk) {                                                  \
          to_the_end_##SUFFIX(limit, 1, total, chunk, n);                                          \
          to_the_end_##SUFFIX((T)(limit + 1), -1, total, chunk, n);                                \
        }                                                                                          \
      for (int schedule = 33; schedule <= 36; ++schedule) {                                        \
        empty_##SUFFIX(schedule, 5, 4, 1);                                                         \
        empty_##SUFFIX(schedule, 5, 6, -1);                                                        \
        for (int step = -7; step <= 7; ++step)                                                     \
          if (step != 0)                                                                           \
            by_steps_##SUFFIX(schedule, (T)(12 + step), step, 2, n);                               \
      }                                                                                            \
      in_turn_##SUFFIX(1, most_of_chunk, n, 0);                                                    \
      in_turn_##SUFFIX(1000, most_of_chunk, n, 0);                                                 \
      in_turn_##SUFFIX(1000, 1, n, 1);                                                             \
      in_turn_##SUFFIX(1000, 7, n, 1);                                                             \
      in_turn_##SUFFIX(1000, 999, n, 1);                                                           \
      in_turn_##SUFFIX(limit / 2, (S)(limit / 64), n, 1);                                          \
      for (T less = 0; less < 3; ++less) {                                                         \
        in_turn_##SUFFIX(limit - less, most_of_chunk, n, 0);                                       \
        in_turn_##SUFFIX(limit - less, (S)(limit / 3), n, 0);                                      \
        in_turn_##SUFFIX(limit - less, (S)(limit / 64), n, 0);                                     \
        for (int schedule = 35; schedule <= 36; ++schedule) {                                      \
          asked_for_##SUFFIX(schedule, limit - less, (S)(limit / 64), n);                          \
          asked_for_##SUFFIX(schedule | 1 << 30, limit - less, (S)(limit / 64), n);                \
          asked_for_##SUFFIX(schedule, limit - less, most_of_chunk, n);                            \
        }                                                                                          \
        asked_for_##SUFFIX(33, limit - less, (S)(limit / 64), n);                                  \
        asked_for_##SUFFIX(34, limit - less, 0, n);                                                \
      }                                                                                            \
    }                                                                                              \
  }
KIND(4, int32_t, int32_t)
KIND(4u, uint32_t, int32_t)
KIND(8, int64_t, int64_t)
KIND(8u, uint64_t, int64_t)

static void of_gcc(int n, unsigned long long total, unsigned long long chunk) {
#pragma omp parallel num_threads(n)
  {
    unsigned long long first, end;
    for (_Bool more = GOMP_loop_ull_dynamic_start(1, 0, total, 1, chunk, &first, &end); more;
         more = GOMP_loop_ull_dynamic_next(&first, &end))
      note(first, end - 1);
    GOMP_loop_end_nowait();
  }
  check("GCC's dynamic", total, 0, n, 0);
#pragma omp parallel num_threads(n)
  {
    unsigned long long first, end;
    for (_Bool more = GOMP_loop_ull_guided_start(1, 0, total, 1, chunk, &first, &end); more;
         more = GOMP_loop_ull_guided_next(&first, &end))
      note(first, end - 1);
    GOMP_loop_end_nowait();
  }
  check("GCC's guided", total, 0, n, 0);
#pragma omp parallel num_threads(n)
  {
    long first, end;
    for (_Bool more = GOMP_loop_dynamic_start(LONG_MIN, LONG_MAX, 1, LONG_MAX / 9, &first, &end);
         more; more = GOMP_loop_dynamic_next(&first, &end))
      note((uint64_t)first - (uint64_t)LONG_MIN, (uint64_t)end - (uint64_t)LONG_MIN - 1);
    GOMP_loop_end_nowait();
  }
  check("GCC's dynamic, over all of long", ULONG_MAX, 0, n, 0);
}

int main(void) {
  all_4(INT32_MAX, INT32_MAX);
  all_4u(UINT32_MAX, INT32_MAX);
  all_8(INT64_MAX, INT64_MAX);
  all_8u(UINT64_MAX, INT64_MAX);
  for (int n = 1; n <= 7; n += 2) {
    of_gcc(n, ULLONG_MAX, ULLONG_MAX / 50);
    of_gcc(n, ULLONG_MAX, ULLONG_MAX);
    of_gcc(n, ULLONG_MAX - 1, 1ull << 60);
  }
  puts("static_chunks: ok");
  return 0;
}

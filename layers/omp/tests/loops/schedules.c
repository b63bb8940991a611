/* SPDX-License-Identifier: Apache-2.0
   Every schedule, over loops at the ends of every integer type, loops that cover the type in a few
   steps, and loops shorter than a chunk. Each iteration runs once, with the value that a serial
   loop gives it, and no other iteration runs. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16 };
static unsigned count[most];
static unsigned long beside, wrong_order, loops;
static long last_in_order;

/* Notes iteration number `at` of a loop that has `n`. */
static void mark(unsigned long long at, unsigned n) {
  if (at < n)
    __atomic_add_fetch(&count[at], 1, __ATOMIC_RELAXED);
  else
    __atomic_add_fetch(&beside, 1, __ATOMIC_RELAXED);
}

static void in_order(unsigned long long at) {
  wrong_order += (long)at != last_in_order + 1;
  last_in_order = (long)at;
}

static void begin(void) {
  memset(count, 0, sizeof count);
  last_in_order = -1;
  ++loops;
}

static void check(const char *type, const char *way, const char *schedule, unsigned n, long chunk) {
  int holds = beside == 0 && wrong_order == 0;
  for (unsigned i = 0; i < most; ++i)
    holds &= count[i] == (i < n);
  if (holds)
    return;
  fprintf(stderr,
          "schedules: %s, %s, %s, chunk %ld, %u iterations: %lu beside them, %lu out of order, and",
          type, way, schedule, chunk, n, beside, wrong_order);
  for (unsigned i = 0; i < most; ++i)
    fprintf(stderr, " %u", count[i]);
  fprintf(stderr, "\n");
  exit(1);
}

#define TEXT(X) TEXT_OF(X)
#define TEXT_OF(X) #X
#define DIRECTIVE(...) _Pragma(TEXT(omp __VA_ARGS__))

/* Runs one loop. AT: the number of iteration i. */
#define LOOP(T, WAY, HEAD, AT, N, CHUNK, NAME, ...)                                                \
  begin();                                                                                         \
  DIRECTIVE(__VA_ARGS__)                                                                           \
  HEAD mark(AT, N);                                                                                \
  check(#T, WAY, NAME, N, CHUNK);
#define ORDERED(T, WAY, HEAD, AT, N, CHUNK, NAME, ...)                                             \
  begin();                                                                                         \
  DIRECTIVE(__VA_ARGS__)                                                                           \
  HEAD {                                                                                           \
    mark(AT, N);                                                                                   \
    DIRECTIVE(ordered)                                                                             \
    in_order(AT);                                                                                  \
  }                                                                                                \
  check(#T, WAY, NAME, N, CHUNK);

#define ALL(T, WAY, HEAD, AT, N)                                                                                              \
  LOOP(T, WAY, HEAD, AT, N, 0, "static", parallel for schedule(static))                                                       \
  LOOP(T, WAY, HEAD, AT, N, 0, "guided", parallel for schedule(guided))                                                       \
  LOOP(T, WAY, HEAD, AT, N, 0, "auto", parallel for schedule(auto))                                                           \
  LOOP(T, WAY, HEAD, AT, N, 0, "distribute", teams distribute num_teams(3) thread_limit(2))                                   \
  LOOP(T, WAY, HEAD, AT, N, 0, "distribute and share", teams distribute parallel for num_teams(3) thread_limit(2))            \
  for (unsigned c = 0; c < sizeof chunks / sizeof *chunks; ++c) {                                                             \
    const long chunk = chunks[c], inlined = chunk > most_inlined ? most_inlined : chunk;                                      \
    LOOP(T, WAY, HEAD, AT, N, chunk, "static by chunks", parallel for schedule(static, inlined))                              \
    LOOP(T, WAY, HEAD, AT, N, chunk, "dynamic", parallel for schedule(dynamic, chunk))                                        \
    LOOP(T, WAY, HEAD, AT, N, chunk, "monotonic dynamic", parallel for schedule(monotonic : dynamic, chunk))                  \
    LOOP(T, WAY, HEAD, AT, N, chunk, "guided by chunks", parallel for schedule(guided, chunk))                                \
    LOOP(T, WAY, HEAD, AT, N, chunk, "distribute by chunks",                                                                  \
         teams distribute num_teams(3) thread_limit(2) dist_schedule(static, inlined))                                        \
    LOOP(T, WAY, HEAD, AT, N, chunk, "both by chunks", \
         teams distribute parallel for num_teams(3) thread_limit(2) dist_schedule(static, inlined) schedule(static, inlined)) \
    ORDERED(T, WAY, HEAD, AT, N, chunk, "static in order", parallel for ordered schedule(static, chunk))                      \
    ORDERED(T, WAY, HEAD, AT, N, chunk, "dynamic in order", parallel for ordered schedule(dynamic, chunk))                    \
    ORDERED(T, WAY, HEAD, AT, N, chunk, "guided in order", parallel for ordered schedule(guided, chunk))                      \
    for (int kind = omp_sched_static; kind <= omp_sched_auto; ++kind) {                                                       \
      omp_set_schedule((omp_sched_t)kind, chunk > INT_MAX ? INT_MAX : (int)chunk);                                            \
      LOOP(T, WAY, HEAD, AT, N, chunk, "runtime", parallel for schedule(runtime))                                             \
      ORDERED(T, WAY, HEAD, AT, N, chunk, "runtime in order", parallel for ordered schedule(runtime))                         \
    }                                                                                                                         \
  }

/* GCC computes such chunks by itself, in the type of the loop. */
#ifdef __clang__
static const long most_inlined = LONG_MAX;
#define GOES_DOWN(T) 1
#else
static const long most_inlined = 20;
#define GOES_DOWN(T)                                                                               \
  ((T) - 1 < 1 ||                                                                                  \
   sizeof(T) == sizeof(long)) /* GCC takes the step of a shorter unsigned type for a great one */
#endif
static const long chunks[] = {1, 3, 1 << 30, INT_MAX, LONG_MAX};

/* Goes from `low`, in n steps, upwards and back. U: the unsigned type. */
#define OVER(T, U, NAME)                                                                           \
  static void over_##NAME(T low, T step, unsigned n) {                                             \
    const T high = (T)((U)low + (U)step * n), last = (T)(high - step),                             \
            before = (T)(low - (low > LEAST_##NAME));                                              \
    ALL(T, "up", for (T i = low; i < high; i += step), (U)((U)i - (U)low) / (U)step, n)            \
    ALL(T, "up to the last", for (T i = low; i <= last; i += step), (U)((U)i - (U)low) / (U)step,  \
        n)                                                                                         \
    if (GOES_DOWN(T) && before < low && step == 1) {                                               \
      ALL(T, "down", for (T i = last; i > before; i -= step), (U)((U)last - (U)i) / (U)step, n)    \
    }                                                                                              \
    if (GOES_DOWN(T)) {                                                                            \
      ALL(T, "down from the end", for (T i = high; i > low; i -= step),                            \
          (U)((U)high - (U)i) / (U)step, n)                                                        \
    }                                                                                              \
  }                                                                                                \
  static void all_##NAME(void) {                                                                   \
    const T most_there_is = MOST_##NAME, least = LEAST_##NAME;                                     \
    over_##NAME((T)(most_there_is - 7), 1, 7);                                                     \
    over_##NAME((T)(most_there_is - 9), 3, 3);                                                     \
    over_##NAME(least, 1, 8);                                                                      \
    over_##NAME(least, (T)(most_there_is / 4), 3);                                                 \
    over_##NAME((T)(most_there_is / 2), 5, 1);                                                     \
  }

#define LEAST_schar SCHAR_MIN
#define MOST_schar SCHAR_MAX
#define LEAST_uchar 0
#define MOST_uchar UCHAR_MAX
#define LEAST_short SHRT_MIN
#define MOST_short SHRT_MAX
#define LEAST_ushort 0
#define MOST_ushort USHRT_MAX
#define LEAST_int INT_MIN
#define MOST_int INT_MAX
#define LEAST_uint 0
#define MOST_uint UINT_MAX
#define LEAST_long LONG_MIN
#define MOST_long LONG_MAX
#define LEAST_ulong 0
#define MOST_ulong ULONG_MAX

OVER(signed char, unsigned char, schar)
OVER(unsigned char, unsigned char, uchar)
OVER(short, unsigned short, short)
OVER(unsigned short, unsigned short, ushort)
OVER(int, unsigned, int)
OVER(unsigned, unsigned, uint)
OVER(long, unsigned long, long)
OVER(unsigned long, unsigned long, ulong)

int main(void) {
  all_schar();
  all_uchar();
  all_short();
  all_ushort();
  all_int();
  all_uint();
  all_long();
  all_ulong();
  printf("schedules: ok, %lu loops\n", loops);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// reduction, weakreduction and declare reduction in C: operations and types, items, scopes, types of one's own.
#include "check.h"

#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { k_tasks = 40 };

static int g_total = 1;
static double g_all[4];
static long g_data[6];
static long *g_pointer = g_data;
enum color { red, green, blue };

#ifdef WEFT_OSS_REGIONS
#define BEGINS(i) 0
#else
#define BEGINS(i) ((i) == 0) // later tasks may go on with the copy of an earlier one
#endif
static void wait_for_first(int i) {
  if (i == 0) {
#pragma oss taskwait
  }
}

// All operations, each with what it begins with: a copy shows that before it is changed.
#define NUMBERS(type)                                                                                     \
  static void numbers_of_##type(void) {                                                                   \
    type plus = 1, times = 1, all = 1, none = 0;                                                          \
    for (int i = 0; i < 5; ++i) {                                                                         \
      _Pragma(                                                                                            \
          "oss task reduction(+ : plus) reduction(* : times) reduction(&& : all) reduction(|| : none)") { \
        CHECK(!BEGINS(i) || (plus == 0 && times == 1 && all == 1 && none == 0));                          \
        plus += (type)1;                                                                                  \
        times *= i == 3 ? (type)2 : (type)1;                                                              \
        all = all && i >= 0;                                                                              \
        none = none || i < 0;                                                                             \
      }                                                                                                   \
      wait_for_first(i);                                                                                  \
    }                                                                                                     \
    _Pragma("oss taskwait") CHECK(plus == (type)6 && times == (type)2 && all == 1 && none == 0);          \
    for (int i = 0; i < 5; ++i) {                                                                         \
      _Pragma("oss task reduction(&& : all) reduction(|| : none) reduction(- : plus)") {                  \
        all = all && i != 3;                                                                              \
        none = none || i == 3;                                                                            \
        plus -= (type)(i == 2);                                                                           \
      }                                                                                                   \
    }                                                                                                     \
    _Pragma("oss taskwait") CHECK(all == 0 && none == 1 && (plus == (type)5 || (type)0.5 == 1));          \
  }
#define ORDERED(type, lowest, highest)                                                             \
  NUMBERS(type)                                                                                    \
  static void order_of_##type(void) {                                                              \
    type least = 100, most = 0, low = (type)(lowest), high = (type)(highest);                      \
    for (int i = 0; i < 9; ++i) {                                                                  \
      _Pragma("oss task reduction(min : least, high) reduction(max : most, low)") {                \
        CHECK(!BEGINS(i) || (least == (type)(highest) && most == (type)(lowest)));                 \
        least = (type)(9 - i) < least ? (type)(9 - i) : least;                                     \
        most = most < (type)(i + 1) ? (type)(i + 1) : most;                                        \
      }                                                                                            \
      wait_for_first(i);                                                                           \
    }                                                                                              \
    _Pragma("oss taskwait") CHECK(least == (type)1 && most == (type)9);                            \
    CHECK(low == (type)(lowest) && high == (type)(highest));                                       \
  }
#define INTEGER(type, lowest, highest)                                                             \
  ORDERED(type, lowest, highest)                                                                   \
  static void bits_of_##type(void) {                                                               \
    type both = (type)~0ULL, any = 0, odd = 0;                                                     \
    for (int i = 0; i < 6; ++i) {                                                                  \
      _Pragma("oss task reduction(& : both) reduction(| : any) reduction(^ : odd)") {              \
        CHECK(!BEGINS(i) || (both == (type)~0ULL && any == 0 && odd == 0));                        \
        both = (type)(both & (type) ~(1ULL << i));                                                 \
        any = (type)(any | (type)(1ULL << i));                                                     \
        odd = (type)(odd ^ (type)(i % 2 == 0));                                                    \
      }                                                                                            \
      wait_for_first(i);                                                                           \
    }                                                                                              \
    _Pragma("oss taskwait") CHECK(both == (type)~0x3fULL || (type)2 == 1);                         \
    CHECK(any == (type)0x3f && odd == 1);                                                          \
  }
typedef bool truth; // "bool" is a macro until C23
typedef signed char schar;
typedef unsigned char uchar;
typedef unsigned short ushort_;
typedef unsigned uint_;
typedef unsigned long ulong_;
typedef long long llong;
typedef unsigned long long ullong;
typedef long double ldouble;
typedef float _Complex cfloat;
typedef double _Complex cdouble;
typedef long double _Complex cldouble;
INTEGER(truth, 0, 1)
INTEGER(char, CHAR_MIN, CHAR_MAX)
INTEGER(schar, SCHAR_MIN, SCHAR_MAX)
INTEGER(uchar, 0, UCHAR_MAX)
INTEGER(short, SHRT_MIN, SHRT_MAX)
INTEGER(ushort_, 0, USHRT_MAX)
INTEGER(int, INT_MIN, INT_MAX)
INTEGER(uint_, 0, UINT_MAX)
INTEGER(long, LONG_MIN, LONG_MAX)
INTEGER(ulong_, 0, ULONG_MAX)
INTEGER(llong, LLONG_MIN, LLONG_MAX)
INTEGER(ullong, 0, ULLONG_MAX)
ORDERED(float, -INFINITY, INFINITY)
ORDERED(double, -INFINITY, INFINITY)
ORDERED(ldouble, -INFINITY, INFINITY)
NUMBERS(cfloat)
NUMBERS(cdouble)
NUMBERS(cldouble)

static void types(void) {
#define ALL_OF(type) numbers_of_##type(), order_of_##type(), bits_of_##type()
  ALL_OF(truth), ALL_OF(char), ALL_OF(schar), ALL_OF(uchar), ALL_OF(short), ALL_OF(ushort_);
  ALL_OF(int), ALL_OF(uint_), ALL_OF(long), ALL_OF(ulong_), ALL_OF(llong), ALL_OF(ullong);
  numbers_of_float(), order_of_float(), numbers_of_double(), order_of_double();
  numbers_of_ldouble(), order_of_ldouble();
  numbers_of_cfloat(), numbers_of_cdouble(), numbers_of_cldouble();
  double _Complex turn = 1;
  enum color mixed = red;
  for (int i = 0; i < 3; ++i) {
#pragma oss task reduction(* : turn) reduction(| : mixed)
    {
      turn *= I;
      mixed |= i == 1 ? blue : green;
    }
  }
#pragma oss taskwait
  CHECK(creal(turn) == 0 && cimag(turn) == -1 && mixed == 3);
}

// An item is an object, an array, a part of one, what a pointer points to, a member.
struct holder {
  int before, sum, after;
};
static void items(int n) {
  static int kept = 3;
  int all[4] = {1, 1, 1, 1}, grid[3][4] = {0}, part[8] = {0}, one[5] = {0};
  long data[6] = {1, 1, 1, 1, 1, 1}, *p = data, apart[3] = {1, 1, 1}, *q = apart;
  int(*rows)[4] = grid;
  double v[n], m[n][2]; // of run time
  struct holder h = {5, 0, 6}, *to = &h;
  for (int i = 0; i < n; ++i)
    v[i] = m[i][0] = m[i][1] = 0.5;
  for (int i = 0; i < k_tasks; ++i) {
#pragma oss task reduction(+ : all, [n] p) reduction(+ : grid) reduction(+ : part[2; 3], one[4])
    {
      ++all[i % 4];
      ++p[i % 6];
      ++grid[i % 3][i % 4];
      ++part[2 + i % 3];
      ++one[4];
    }
#pragma oss task reduction(max : q[1 : 2]) reduction(+ : h.sum) reduction(+ : to -> after)
    {
      q[1] = q[1] < i ? i : q[1];
      h.sum += i;
      to->after += 1;
    }
#pragma oss task reduction(+ : rows[1]) reduction(+ : g_total, g_all, g_pointer[1; 2], kept)
    {
      rows[1][3] += 100;
      g_total += 2;
      g_all[i % 4] += 1;
      g_pointer[1 + i % 2] += i;
      ++kept;
    }
#pragma oss task reduction(+ : v) reduction(+ : m[1 : 2][0 : 1])
    {
      v[i % n] += 1;
      m[1][1] += 1;
      m[2][0] += 2;
    }
  }
#pragma oss taskwait
  for (int i = 0; i < 4; ++i)
    CHECK(all[i] == 11 && g_all[i] == 10);
  CHECK(data[0] == 7 + 1 && data[1] == 8 && data[3] == 8 && data[4] == 7 && data[5] == 7);
  CHECK(apart[0] == 1 && apart[1] == 39 && apart[2] == 1);
  int sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += grid[i / 4][i % 4];
  CHECK(sum == k_tasks + 100 * k_tasks && grid[1][3] >= 4000);
  CHECK(part[1] == 0 && part[2] == 14 && part[3] == 13 && part[4] == 13 && part[5] == 0);
  CHECK(one[4] == k_tasks && one[3] == 0 && g_total == 1 + 2 * k_tasks && kept == 3 + k_tasks);
  CHECK(g_data[0] == 0 && g_data[1] == 380 && g_data[2] == 400 && g_pointer == g_data);
  CHECK(h.before == 5 && h.sum == 780 && h.after == 46);
  CHECK(v[0] == 7.5 && v[5] == 6.5 && m[0][1] == 0.5 && m[1][0] == 0.5 && m[1][1] == 40.5);
  CHECK(m[2][0] == 80.5 && m[3][0] == 0.5);
}

// The tasks are ordered with all that name the object in another way; rules for variables.
static void order(void) {
  int x = 0, seen[3] = {0}, step = 1;
  for (int round = 0; round < 3; ++round) {
#pragma oss task out(x)
    {
      be_late();
      x = 100 * round;
    }
    for (int i = 0; i < 8; ++i) {
#pragma oss task reduction(+ : x) if (i != 3) final(i == 5) priority(i)
      x += step;
    }
#pragma oss task in({x, k = 0; 1}) shared(seen) firstprivate(round)
    seen[round] = x;
  }
#pragma oss task default(shared) reduction(+ : x)
  x += 1;
#pragma oss task default(none) reduction(+ : x) in({seen[k], k = 0; 3})
  x += 1;
  int asked = 0;
#pragma oss task onready(asked += x == 0) reduction(+ : x) shared(asked)
  x += 1;
#pragma oss taskwait
  for (int round = 0; round < 3; ++round)
    CHECK(seen[round] == 100 * round + 8);
  CHECK(x == 211);
}

// The copy is what tasks inside of the task see by the name.
static void inside(void) {
  int x = 0, v[2] = {0, 0};
#pragma oss task reduction(+ : x, v) reduction(+ : g_total)
  {
    const int begin = g_total;
#pragma oss task shared(x, v)
    {
      x += 4;
      v[1] += 5;
      g_total += 1;
    }
#pragma oss taskwait
    CHECK(x >= 4 && v[1] >= 5 && g_total > begin - 1);
  }
#pragma oss taskwait
  CHECK(x == 4 && v[0] == 0 && v[1] == 5);
}

// A weak reduction is what the children reduce; a strong one below it goes into the same copies.
static void weak(void) {
  int x = 0, v[3] = {0};
#pragma oss task weakreduction(+ : x) weakreduction(+ : v) shared(v)
  {
    for (int i = 0; i < 20; ++i) {
#pragma oss task reduction(+ : x) reduction(+ : v)
      {
        x += i;
        v[i % 3] += 1;
      }
    }
  }
#pragma oss task reduction(+ : x)
  x += 1000;
#pragma oss task inout(x)
  x *= 2;
#pragma oss taskwait
  CHECK(x == 2380 && v[0] == 7 && v[1] == 7 && v[2] == 6);
}

static void loops(void) {
  long sum = 0, least = 1000;
  int hits[3] = {0};
#pragma oss taskloop grainsize(9) reduction(+ : sum, hits) reduction(min : least)
  for (int i = 1; i <= 100; ++i) {
    sum += i;
    ++hits[i % 3];
    least = i < least ? i : least;
  }
#pragma oss task for chunksize(3) reduction(+ : sum, hits) reduction(min : least)
  for (int i = 1; i <= 100; ++i) {
    sum += i;
    ++hits[i % 3];
    least = -i < least ? -i : least;
  }
#pragma oss taskloop for grainsize(40) chunksize(3) reduction(+ : sum) reduction(+ : hits[0; 3])   \
    weakreduction(max : least)
  for (int i = 1; i <= 100; ++i) {
    sum += i;
    ++hits[i % 3];
  }
#pragma oss taskwait
  CHECK(sum == 15150 && hits[0] == 99 && hits[1] == 102 && hits[2] == 99 && least == -100);
  int ends[12] = {0};
#pragma oss taskloop grainsize(4) reduction(+ : ends[i; 4])
  for (int i = 0; i < 12; ++i)
    ends[i] += i;
  const int before = g_total;
#pragma oss task for chunksize(2) reduction(+ : g_total)
  for (int i = 0; i < 20000; ++i)
    ++g_total;
#pragma oss taskwait
  CHECK(g_total == before + 20000);
  for (int i = 0; i < 12; ++i)
    CHECK(ends[i] == i);
}

// Functions: the pointer leads to the copy.
static int g_calls;
#pragma oss task reduction(+ : *into) reduction(max : [2] most) concurrent(g_calls)
static void count_in(int *into, const int *from, int *most) {
  *into += *from;
  most[1] = most[1] < *from ? *from : most[1];
}
static void functions(void) {
  int total = 5, most[2] = {-1, -1}, values[k_tasks];
  for (int i = 0; i < k_tasks; ++i) {
    values[i] = i;
    count_in(&total, &values[i], most);
  }
#pragma oss taskwait
  CHECK(total == 785 && most[0] == -1 && most[1] == 39);
}

// Declared ones: for types of one's own, several types, with every form of start.
struct point {
  int x, y;
};
static void start_with(struct point *p, int x) { p->x = x; }
#pragma oss declare reduction(+ : struct point : omp_out.x += omp_in.x, omp_out.y += omp_in.y)
#pragma oss declare reduction(widest : struct point : omp_out.x =                                  \
                                  omp_in.x < omp_out.x ? omp_out.x : omp_in.x)                     \
    initializer(start_with(&omp_priv, -1000))
#pragma oss declare reduction(pick : struct point, int *, short : omp_out = omp_in)                \
    initializer(omp_priv = omp_orig)
#pragma oss declare reduction(both : struct point : omp_out.x += omp_in.x)                         \
    initializer(omp_priv = {0, 7})
#pragma oss declare reduction(digits:int : omp_out = omp_out * 10 + omp_in)
#pragma oss declare reduction(digits:long : omp_out = omp_out * 100 + omp_in)

static void declared(void) {
  struct point p = {0, 0}, wide = {5, 6}, both = {3, 0}, many[3] = {{0, 0}};
  int value = 4, other = 2, *at = &other;
  short chosen = 12;
  for (int i = 0; i < 20; ++i) {
#pragma oss task reduction(+ : p, many) reduction(widest : wide) reduction(both : both)
    {
#ifndef WEFT_OSS_REGIONS
      CHECK(wide.x >= -1000 && wide.y == 0 && both.y == 7);
#endif
      p.x += 1;
      p.y += i;
      many[i % 3].y += i;
      wide.x = wide.x < i ? i : wide.x;
      both.x += 1;
    }
  }
#pragma oss task reduction(pick : at, chosen) shared(value, other)
  {
    CHECK(at == &other && chosen == 12);
    at = &value;
    chosen = (short)(chosen + 1);
  }
#pragma oss taskwait
  CHECK(p.x == 20 && p.y == 190 && wide.x == 19 && wide.y == 6 && both.x == 23);
  CHECK(many[0].y == 63 && many[1].y == 70 && many[2].y == 57 && at == &value && chosen == 13);
#ifndef WEFT_OSS_REGIONS // by bytes a task works on the object itself
  long wider = 4;
#pragma oss task reduction(digits : value, wider)
  {
    value = value * 10 + 7;
    wider = 8;
  }
#pragma oss taskwait
  CHECK(value == 47 && wider == 408);
#endif
}

// Tasks below a reduction that reduce the same: by the name, by a pointer to it, of a part, in shared loops.
static void add_below(long *sum, double *part) {
  for (int i = 0; i < 3; ++i) {
#pragma oss task reduction(+ : *sum) reduction(max : part[0;3])
    {
      *sum += 1;
      part[2] = part[2] < i + 10.5 ? i + 10.5 : part[2];
#pragma oss task reduction(+ : *sum)
      *sum += 100;
    }
  }
}
// Parts of what the task around them reduces, one, two of one item, and one by a shared loop.
static void add_to_parts(int *a, int *b) {
#pragma oss task reduction(+ : a[1;2])
  {
    a[1] += 1;
    a[2] += 10;
#pragma oss task reduction(+ : a[2])
    a[2] += 100;
  }
#pragma oss task reduction(+ : *a) reduction(+ : b[0;3])
  {
    *a += 1000;
    b[2] += 1000;
  }
#pragma oss task for chunksize(1) reduction(+ : b[1;2])
  for (int i = 0; i < 4; ++i)
    b[1 + i % 2] += 1;
}
static void parts(void) {
  int a[8] = {0};
  struct point p[3] = {{0, 0}, {0, 0}, {0, 0}};
  for (int k = 0; k < 20; ++k) {
#pragma oss task reduction(+ : a[1;7]) reduction(+ : p)
    {
      a[4] += 1;
      add_to_parts(a + 1, a + 5);
      struct point *const last = p + 2;
#pragma oss task reduction(+ : *last)
      last->y += k;
    }
#pragma oss task reduction(+ : a[1;7])
    a[7] += 5;
  }
#pragma oss taskwait
  CHECK(a[0] == 0 && a[1] == 20000 && a[2] == 20 && a[3] == 2200 && a[4] == 20);
  CHECK(a[5] == 0 && a[6] == 40 && a[7] == 20 * 1007);
  CHECK(p[0].y == 0 && p[1].y == 0 && p[2].y == 190);
}
static void below(void) {
  long sum = 5;
  double v[4] = {1, 2, 3, 4};
  for (int k = 0; k < 20; ++k) {
#pragma oss task reduction(+ : sum) reduction(max : v[1;3]) weakreduction(+ : g_total)
    {
      sum += 1000;
      add_below(&sum, v + 1);
#pragma oss task reduction(+ : g_total)
      g_total += 1;
    }
  }
#pragma oss task for chunksize(1) reduction(+ : sum)
  for (int i = 0; i < 8; ++i) {
#ifdef WEFT_OSS_REGIONS // by bytes there are no copies: the loop would add beside its tasks
#pragma oss task reduction(+ : sum)
    sum += 2;
#else
    sum += 1;
#pragma oss task reduction(+ : sum)
    sum += 1;
#endif
  }
#pragma oss task reduction(+ : g_total)
  {
    g_total += 2;
#pragma oss task reduction(+ : g_total)
    g_total += 3;
  }
#pragma oss taskwait
  CHECK(sum == 5 + 20 * (1000 + 3 * 101) + 16 && g_total == 26);
  CHECK(v[0] == 1 && v[1] == 2 && v[2] == 3 && v[3] == 12.5);
  g_total = 1;
}

int main(void) {
  below();
  parts();
  types();
  items(6);
  order();
  inside();
  weak();
  loops();
  functions();
  declared();
}

// SPDX-License-Identifier: Apache-2.0
// reduction, weakreduction and declare reduction: operations, items, scopes, types of one's own.
#include "reductions.hpp"
#include "check.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

static constexpr int k_tasks = 40;
static int g_total = 1;

static void operations() {
  int plus = 1, minus = 10, times = 1, both = 0xfff, any = 0, odd = 0, least = 100, most = -100;
  bool all = true, none = false;
  double half = 0.5, low = 7.25;
  unsigned char small = 0;
  for (int i = 0; i < k_tasks; ++i) {
#pragma oss task reduction(+ : plus, half) reduction(- : minus) reduction(* : times) firstprivate(i)
    {
      plus += i;
      half += 1;
      minus -= 1;
      times *= i % 10 == 3 ? 3 : 1;
    }
#pragma oss task reduction(& : both) reduction(| : any) reduction(^ : odd) reduction(&& : all)     \
    reduction(|| : none) reduction(min : least, low) reduction(max : most) reduction(+ : small)
    {
      both &= ~(1 << (i % 8));
      any |= 1 << (i % 5);
      odd ^= i;
      all = all && i >= 0;
      none = none || i < 0;
      least = i < least ? i : least;
      low = i < low ? i : low;
      most = most < i ? i : most;
      small += 1;
    }
  }
#pragma oss taskwait
  CHECK(plus == 781 && minus == -30 && times == 81 && half == 40.5 && small == 40);
  CHECK(both == 0xf00 && any == 31 && odd == 0 && all && !none);
  CHECK(least == 0 && low == 0 && most == 39);
}

// An item is an object, an array, a part of one, what a pointer points to, a member.
struct holder {
  int before = 5, sum = 0, after = 6;
  int pair[2] = {};
  void add(int n) {
    for (int i = 0; i < n; ++i) {
#pragma oss task reduction(+ : sum, pair)
      {
        sum += 1;
        pair[i % 2] += 2;
      }
    }
#pragma oss taskwait
  }
};
static void items() {
  int all[4] = {1, 1, 1, 1}, grid[3][4] = {}, part[8] = {}, one[5] = {};
  std::vector<long> v(6, 1);
  long *p = v.data(), *q = p;
  int(*rows)[4] = grid;
  holder h;
  holder *to = &h;
  const int n = 6;
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
      CHECK(h.sum >= 0);
      q[1] = q[1] < i ? i : q[1];
      h.sum += i;
      to->after += 1;
    }
#pragma oss task reduction(+ : rows[1]) reduction(+ : g_total)
    {
      rows[1][3] += 100;
      g_total += 2;
    }
  }
#pragma oss taskwait
  for (int i = 0; i < 4; ++i)
    CHECK(all[i] == 11);
  for (int i = 0, k = 0; i < 6; ++i, k = 0) {
    for (int t = 0; t < k_tasks; ++t)
      k += t % 6 == i ? 1 : 0;
    CHECK(v[static_cast<std::size_t>(i)] == (i == 1 ? (v[1] > 39 ? v[1] : 39) : 1 + k));
  }
  int sum = 0;
  for (const auto &row : grid)
    for (const int x : row)
      sum += x;
  CHECK(sum == k_tasks + 100 * k_tasks && grid[1][3] >= 4000);
  CHECK(part[1] == 0 && part[2] == 14 && part[3] == 13 && part[4] == 13 && part[5] == 0);
  CHECK(one[4] == k_tasks && one[3] == 0 && g_total == 1 + 2 * k_tasks);
  CHECK(h.before == 5 && h.sum == 780 && h.after == 46);
  holder members;
  members.add(9);
  CHECK(members.sum == 9 && members.pair[0] == 10 && members.pair[1] == 8);
}

// The tasks are ordered with all that name the object in another way.
static void order() {
  int x = 0, seen[3] = {};
  for (int round = 0; round < 3; ++round) {
#pragma oss task out(x)
    {
      be_late();
      x = 100 * round;
    }
    for (int i = 0; i < 8; ++i) {
#pragma oss task reduction(+ : x)
      x += 1;
    }
#pragma oss task in(x)shared(seen) firstprivate(round)
    seen[round] = x;
  }
#pragma oss taskwait
  for (int round = 0; round < 3; ++round)
    CHECK(seen[round] == 100 * round + 8);
}

// A weak reduction is what the children reduce; a strong one below it goes into the same copies.
static void weak() {
  int x = 0, v[3] = {};
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

static void loops() {
  long sum = 0, least = 1000;
  int hits[3] = {};
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
#pragma oss task default(shared) reduction(+ : sum)
  sum += 1;
#pragma oss task default(none) reduction(+ : sum)
  sum -= 1;
#pragma oss taskwait
  CHECK(sum == 15150 && hits[0] == 99 && hits[1] == 102 && hits[2] == 99 && least == -100);
  int ends[12] = {};
#pragma oss taskloop grainsize(4) reduction(+ : ends[i; 4])
  for (int i = 0; i < 12; ++i)
    ends[i] += i;
#pragma oss taskwait
  for (int i = 0; i < 12; ++i)
    CHECK(ends[i] == i);
}

// Declared ones: for types of one's own, several types, in every scope, with every form of start.
struct point {
  int x = 0, y = 0;
};
static void start_with(point *p, int x) { p->x = x; }
#pragma oss declare reduction(+ : point : omp_out.x += omp_in.x, omp_out.y += omp_in.y)
#pragma oss declare reduction(widest:point : omp_out.x =                                           \
                                  omp_in.x < omp_out.x ? omp_out.x : omp_in.x)                     \
    initializer(start_with(&omp_priv, -1000))
#pragma oss declare reduction(longest : std::string,                                               \
                              std::vector<int> : omp_out =                                         \
                                  omp_out.size() < omp_in.size() ? omp_in : omp_out)
#pragma oss declare reduction(* : std::complex<double> : omp_out *= omp_in)                        \
    initializer(omp_priv(1, 0))
#pragma oss declare reduction(last:int : omp_out = omp_in ? omp_in : omp_out)                      \
    initializer(omp_priv = omp_orig - omp_orig)

namespace inner {
#pragma oss declare reduction(last:double : omp_out = omp_in) initializer(omp_priv = {})
static double of_namespace() {
  double d = 3;
#pragma oss task reduction(last : d)
  d = 7;
#pragma oss taskwait
  return d;
}
} // namespace inner

struct with_reduction {
#pragma oss declare reduction(digits:int : omp_out = omp_out * 10 + omp_in)                        \
    initializer(omp_priv = 0)
  int value = 4;
  void add(int digit) {
#pragma oss task reduction(digits : value)
    value = value * 10 + digit;
#pragma oss taskwait
  }
};

template <class T>
static T in_template(T start) {
#pragma oss declare reduction(twice:T : omp_out = omp_out + omp_in + omp_in)                       \
    initializer(omp_priv = T{})
  T x = start;
  for (int i = 0; i < 10; ++i) {
#pragma oss task reduction(twice : x) in(start)
    {
      T own{};
      own = static_cast<T>(i);
      x = own;
    }
#pragma oss taskwait
  }
  return x;
}

static void declared() {
  point p, wide;
  std::string text = "xy";
  std::vector<int> v;
  std::complex<double> c(0, 1);
  int last = 0;
  for (int i = 0; i < 20; ++i) {
#pragma oss task reduction(+ : p) reduction(widest : wide) reduction(longest : text, v)
    {
      p.x += 1;
      p.y += i;
      wide.x = wide.x < i ? i : wide.x;
      text = std::string(static_cast<std::size_t>(i), 'z');
      v.assign(static_cast<std::size_t>(i % 7), i);
    }
  }
  for (int i = 0; i < 2; ++i) {
#pragma oss task reduction(* : c)
    c *= std::complex<double>(0, 1);
  }
#pragma oss task reduction(last : last)
  last = 9;
#pragma oss taskwait
  CHECK(p.x == 20 && p.y == 190 && wide.x == 19);
#ifndef WEFT_OSS_REGIONS
  CHECK(text.size() >= 2 && v.size() <= 6);
#endif
  CHECK(c == std::complex<double>(0, -1) && last == 9);
  CHECK(inner::of_namespace() == 7);
#ifndef WEFT_OSS_REGIONS // by bytes a task works on the object itself
  with_reduction w;
  w.add(7);
  CHECK(w.value == 47);
  CHECK(in_template(5) == 95 && in_template(2.5) == 92.5);
#endif
  point many[3];
#pragma oss taskloop grainsize(3) reduction(+ : many)
  for (int i = 0; i < 9; ++i)
    many[i % 3].x += i;
#pragma oss taskwait
  CHECK(many[0].x == 9 && many[1].x == 12 && many[2].x == 15);
#pragma oss declare reduction(here:unsigned : omp_out |= omp_in)
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i) {
#pragma oss task reduction(here : bits)
    bits |= 1U << i;
  }
#pragma oss taskwait
  CHECK(bits == 15);
  for (int i = 0; i < 4; ++i) {
#pragma oss task weakreduction(joined : bits)
    add_joined(bits);
#pragma oss task reduction(joined : bits)
    bits += 1;
  }
#pragma oss taskwait
  CHECK(bits == 15 + 4 + 4);
}

// Tasks below a reduction that reduce the same: by the name, by a reference, by a pointer to a part, in shared loops.
void add_below(long &sum, double *part) {
  for (int i = 0; i < 3; ++i) {
#pragma oss task reduction(+ : sum) reduction(max : part[0;3])
    {
      sum += 1;
      part[2] = part[2] < i + 10.5 ? i + 10.5 : part[2];
#pragma oss task reduction(+ : sum)
      sum += 100;
    }
  }
}
// Parts of what the task around them reduces: one, two of one item, by a shared loop, of a declared reduction.
void add_to_parts(int *a, int *b) {
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
struct pair_of {
  int x = 0, y = 0;
};
#pragma oss declare reduction(+ : pair_of : omp_out.x += omp_in.x, omp_out.y += omp_in.y)
void parts() {
  int a[8] = {};
  pair_of p[3] = {};
  for (int k = 0; k < 20; ++k) {
#pragma oss task reduction(+ : a[1;7]) reduction(+ : p)
    {
      a[4] += 1;
      add_to_parts(a + 1, a + 5);
      pair_of &last = p[2];
#pragma oss task reduction(+ : last)
      last.y += k;
    }
#pragma oss task reduction(+ : a[1;7])
    a[7] += 5;
  }
#pragma oss taskwait
  CHECK(a[0] == 0 && a[1] == 20000 && a[2] == 20 && a[3] == 2200 && a[4] == 20);
  CHECK(a[5] == 0 && a[6] == 40 && a[7] == 20 * 1007);
  CHECK(p[0].y == 0 && p[1].y == 0 && p[2].y == 190);
#ifndef WEFT_OSS_REGIONS // by bytes there are no copies
  std::string texts;
  const auto refused = [&texts](auto &&spawn) {
    try {
      spawn();
    } catch (const weft::error &e) {
      if (e.code() == weft::errc::invalid_argument)
        texts += e.what();
    }
    texts += '|';
  };
#pragma oss task reduction(+ : a[2;4]) reduction(+ : p) shared(refused)
  {
    int *const before = a + 1, *const behind = a + 5;
    refused([&] {
#pragma oss task reduction(+ : before[0;2])
      ;
    });
    refused([&] {
#pragma oss task reduction(+ : behind[0;2])
      ;
    });
    refused([&] {
#pragma oss task reduction(+ : behind[0;1])
      ;
#pragma oss task reduction(+ : before[0;1])
      ;
    });
    int &y = p[1].y;
    refused([&] {
#pragma oss task reduction(+ : y)
      ;
    });
  }
#pragma oss taskwait
  const std::string beyond = "a reduction of '#pragma oss' reaches beyond the item that the task "
                             "around it reduces; name that item, or a part of it|";
  CHECK(texts == beyond + beyond + "|a reduction of '#pragma oss' has other elements than the item "
                                   "that the task around it reduces; name whole elements of that item|");
#endif
}
void below() {
  long sum = 5;
  double v[4] = {1, 2, 3, 4};
  for (int k = 0; k < 20; ++k) {
#pragma oss task reduction(+ : sum) reduction(max : v[1;3])
    {
      sum += 1000;
      add_below(sum, v + 1);
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
#pragma oss taskwait
  CHECK(sum == 5 + 20 * (1000 + 3 * 101) + 16);
  CHECK(v[0] == 1 && v[1] == 2 && v[2] == 3 && v[3] == 12.5);
#ifndef WEFT_OSS_REGIONS // by bytes there are no copies
  int refused = 0;
#pragma oss task reduction(+ : sum) shared(refused)
  {
    try {
#pragma oss task weakreduction(+ : sum)
      ;
    } catch (const weft::error &e) {
      refused += e.code() == weft::errc::invalid_argument;
    }
    try {
#pragma oss taskiter reduction(+ : sum)
      for (int i = 0; i < 2; ++i) {
      }
    } catch (const weft::error &e) {
      refused += e.code() == weft::errc::invalid_argument;
    }
  }
#pragma oss taskwait
  CHECK(refused == 2);
#endif
}

// The elements of a container are not in it: in the task its name means elements that are where the copy is.
struct cell {
  int n = 0;
  double at[2] = {};
  int *outside = nullptr;
  static inline int all = 0;
};
struct row_of {
  double v[4] = {};
  double &operator[](int i) { return v[i]; }
};
void paths() {
  std::vector<double> v(8, 1);
  std::vector<cell> cells(3);
  std::array<int, 4> inside{};
  row_of row;
  double *const data = v.data(), (*const pair)[2] = &cells[2].at;
  cell *const first = cells.data();
  std::size_t size = 0;
  for (int i = 0; i < k_tasks; ++i) {
#pragma oss task reduction(+ : v[2;4]) weakreduction(+ : *(data + 7)) out(size)
    {
      for (std::size_t k = 2; k < 6; ++k)
        v[k] += static_cast<double>(k);
      size = v.size();
#pragma oss task reduction(+ : v[3;2])
      {
        be_late();
        v[3] += 100;
        v.data()[4] += 100;
      }
#pragma oss task reduction(+ : *(data + 7)) in(v[3])
      *(data + 7) += v.empty() ? 0 : 1;
    }
#pragma oss task reduction(+ : v[0]) reduction(+ : cells[1].n) reduction(+ : inside[3]) reduction(+ : row[1])
    {
      v[0] += 1;
      cells[1].n += 2;
      inside[3] += 3;
      row[1] += 4;
    }
#pragma oss task reduction(+ : (*pair)[1]) reduction(+ : static_cast<cell *>(first)->n)
    {
      (*pair)[1] += 1;
      static_cast<cell *>(first)->n += 1;
    }
  }
#pragma oss taskloop grainsize(3) reduction(max : v[1])
  for (int i = 0; i < 9; ++i)
    v[1] = v[1] < i ? i : v[1];
#pragma oss taskwait
  CHECK(size == 8 && v[0] == 41 && v[1] == 8 && v[2] == 81 && v[3] == 1 + 103 * k_tasks);
  CHECK(v[4] == 1 + 104 * k_tasks && v[5] == 1 + 5 * k_tasks && v[6] == 1 && v[7] == 41);
  CHECK(cells[0].n == k_tasks && cells[1].n == 2 * k_tasks && cells[2].at[1] == k_tasks);
  CHECK(inside[3] == 3 * k_tasks && row[1] == 4 * k_tasks && row[0] == 0);
  // What an operator of a class leads to is known when the task is created.
  const auto owned = std::make_unique<cell>();
  std::map<int, long> counts{{1, 0}};
  int refused = 0;
  const auto outside = [&refused](const auto &spawn) {
    try {
      spawn();
    } catch (const weft::error &e) {
      refused += std::string(e.what()).find("outside of the variable") != std::string::npos;
    }
  };
  outside([&] {
#pragma oss task reduction(+ : owned->n)
    owned->n += 1;
  });
  outside([&] {
#pragma oss task reduction(+ : (*owned).n)
    (*owned).n += 1;
  });
  outside([&] {
#pragma oss taskloop grainsize(1) reduction(+ : counts[i])
    for (int i = 1; i < 2; ++i)
      counts[1] += 1;
  });
  outside([&] {
#pragma oss task reduction(+ : counts.at(1))
    counts.at(1) += 1;
  });
  // A static member is not in the object.
  cell one, *const through = &one, inner[2];
  outside([&] {
#pragma oss task reduction(+ : one.all)
    one.all += 1;
  });
  outside([&] {
#pragma oss task reduction(+ : through->all)
    through->all += 1;
  });
  outside([&] {
#pragma oss task reduction(+ : inner[1].all)
    inner[1].all += 1;
  });
  outside([&] {
#pragma oss task reduction(+ : one.at[1])
    one.at[1] += 1;
  });
#pragma oss taskwait
#ifdef WEFT_OSS_REGIONS // on the item itself
  CHECK(refused == 0 && owned->n == 2 && counts[1] == 2 && cell::all == 3 && one.at[1] == 1);
#else
  CHECK(refused == 7 && owned->n == 0 && counts[1] == 0 && cell::all == 0 && one.at[1] == 1);
#endif
}
#ifdef WEFT_OSS_REGIONS
// By bytes there are no copies, so a path may be of any length.
void long_paths() {
  double x[3] = {}, *rows[2] = {x, x + 1};
  cell c;
  c.outside = &c.n;
#pragma oss task reduction(+ : rows[1][0;2]) reduction(+ : *c.outside)
  {
    rows[1][1] += 5;
    *c.outside += 6;
  }
#pragma oss taskwait
  CHECK(x[2] == 5 && c.n == 6);
}
#endif

int main() {
  paths();
#ifdef WEFT_OSS_REGIONS
  long_paths();
#endif
  below();
  parts();
  operations();
  items();
  order();
  weak();
  loops();
  declared();
}

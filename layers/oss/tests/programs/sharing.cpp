// SPDX-License-Identifier: Apache-2.0
// How a task gets at variables: by clauses, by its dependences, else as a copy.
#include "check.hpp"

#include <memory>
#include <string>
#include <vector>

static int g_total = 1;
static int g_row[3] = {1, 2, 3};
static int g_copies = 0, g_live = 0;

struct counted {
  int value = 7;
  counted() { ++g_live; }
  counted(const counted &other) : value(other.value) {
    ++g_copies;
    ++g_live;
  }
  counted(counted &&other) noexcept : value(other.value) { ++g_live; }
  ~counted() { --g_live; }
};

static void clauses() {
  int a = 1, b = 2, c = 3;
  int array[3] = {1, 2, 3};
  const int limit = 5;
#pragma oss task shared(a) firstprivate(b) private(c) firstprivate(array) shared(g_total)
  {
    be_late();
    c = 40;
    a += b + c + limit;
    b = array[0] = 100;
    g_total += b;
  }
  array[0] = 50;
  b = 60;
#pragma oss taskwait
  CHECK(a == 48 && b == 60 && c == 3 && array[0] == 50 && g_total == 101);
#pragma oss task firstprivate(g_total, g_row)
  {
    be_late();
    CHECK(g_total == 101 && g_row[2] == 3);
    g_total = 0;
    g_row[2] = 0;
  }
  g_total = 200;
  g_row[2] = 5;
#pragma oss taskwait
  CHECK(g_total == 200 && g_row[2] == 5);
#pragma oss task default(shared)
  a = b = 9;
#pragma oss taskwait
#pragma oss task default(firstprivate)
  a = 10;
#pragma oss task default(none) shared(c) firstprivate(a)
  c = a;
#pragma oss taskwait
  CHECK(a == 9 && b == 9 && c == 9);
  static int kept = 0;
#pragma oss task
  kept = g_total = 3; // static variables and globals are shared
#pragma oss taskwait
  CHECK(kept == 3 && g_total == 3);
}

static void by_dependences() {
  int x = 0, v[4] = {}, other[2] = {1, 1};
  int *p = v;
  int *plain = v;
  int i = 1;
  struct {
    int a = 0;
  } s;
  int &reference = x;
#pragma oss task out(p[i]) inout(s.a) in(other[0])shared(v)
  {
    be_late();
    CHECK(p == v && i == 1); // a base that is a pointer and an index are copies
    p[i] = 1;
    s.a = 2; // a base that is no pointer is shared
    ++i;
    ++p;
    other[1] = 3;
  }
  p = nullptr;
  i = 2;
#pragma oss taskwait
  CHECK(v[1] == 1 && s.a == 2 && i == 2 && p == nullptr && other[1] == 3);
#pragma oss task inout(plain)
  ++plain; // a plain item is shared, also a pointer
#pragma oss taskwait
  CHECK(plain == v + 1);
#pragma oss task inout(reference)
  reference = 5;
#pragma oss taskwait
  CHECK(x == 5);
#pragma oss task
  reference = 6; // a reference without a clause: a copy of what it refers to
#pragma oss taskwait
  CHECK(x == 5);
  int outer = 1;
#pragma oss task shared(outer)
  {
#pragma oss task
    outer = 2; // being shared is not inherited
#pragma oss taskwait
    CHECK(outer == 1);
  }
#pragma oss taskwait
  CHECK(outer == 1);
  int n = 2;
  double *const field = new double[4]();
#pragma oss task out([n][n] field)
  {
    be_late();
    field[n] = 2;
    n = 100;
  }
  n = 3;
#pragma oss taskwait
  CHECK(field[2] == 2 && n == 3);
  delete[] field;
}

static void objects() {
  {
    counted object;
    int seen = 0;
#pragma oss task out(seen)
    {
      be_late();
      seen = object.value;
    }
    object.value = 1;
#pragma oss taskwait
    CHECK(seen == 7 && g_copies == 1);
#pragma oss task firstprivate(object) inout(seen)
    seen = object.value;
#pragma oss taskwait
    CHECK(seen == 1 && g_copies == 2);
#pragma oss task private(object) inout(seen)
    seen = object.value;
#pragma oss taskwait
    CHECK(seen == 7 && g_copies == 2);
#pragma oss task shared(object) inout(seen)
    object.value = 30;
#pragma oss taskwait
    CHECK(object.value == 30 && g_copies == 2 && seen == 7);
  }
  CHECK(g_live == 0);
  std::vector<std::string> words{"one", "two"};
  std::string joined;
  const auto only = std::make_unique<int>(4);
  int read = 0;
#pragma oss task shared(joined)
  for (const auto &w : words)
    joined += w;
#pragma oss task shared(only) out(read)
  read = *only;
#pragma oss taskwait
  CHECK(joined == "onetwo" && read == 4);
}

/// The task's copies live until the children that refer to them are complete.
static void lives_as_long_as_its_children() {
  int seen = 0;
#pragma oss task shared(seen)
  {
    std::vector<int> unused(100, 1);
    int copy[64] = {};
    copy[63] = 9;
#pragma oss task firstprivate(copy) shared(seen)
    {
      int *inner = copy;
#pragma oss task shared(copy, seen)
      {
        be_late();
        seen = copy[63] + (inner == copy ? 1 : 0);
      }
    }
  }
#pragma oss taskwait
  CHECK(seen == 10);
}

// Other variables of items are copied, global and static ones, too; constants stay constants.
static int g_at = 1, g_count = 2, g_shared = 0;
static const int k_end = 3;
constexpr int k_begin = 0;
enum { one_more = 1 };
namespace space {
static int g_inner = 2;
static void indices() {
  static int at = 0;
  int v[4] = {};
#pragma oss task inout(v[g_inner], v[at])
  {
    be_late();
    v[g_inner] += 10 + at;
  }
  g_inner = 0;
  at = 100;
#pragma oss taskwait
  CHECK(v[2] == 10);
  at = 0;
  g_inner = 2;
}
} // namespace space
struct with_static {
  static inline int s_at = 1;
  static void indices() {
    int v[4] = {};
#pragma oss task out(v[s_at])
    {
      be_late();
      v[s_at] = 5;
    }
    s_at = 3;
#pragma oss taskwait
    CHECK(v[1] == 5 && v[3] == 0);
  }
};
static void indices() {
  int v[8] = {}, *p = v;
#pragma oss task inout(v[g_at]) in(v[k_begin + one_more], v[k_end])
  {
    be_late();
    int row[k_end + one_more] = {k_begin};
    v[g_at] = g_at + row[k_begin];
  }
#pragma oss task inout(p[4; g_count], [g_count] p) in({v[i + g_at], i = 4; g_count})
  {
    be_late();
    for (int i = 0; i < g_count; ++i)
      p[4 + i] = g_count;
  }
#pragma oss task in(v[g_shared])shared(g_shared)
  {
    be_late();
    CHECK(g_shared == 7);
  }
#pragma oss task inout(g_total) in(v[g_total])
  g_total += 1;
  g_at = g_count = 5;
  g_shared = 7;
#pragma oss taskwait
  CHECK(v[1] == 1 && v[5] == 2 && v[4] == 2 && v[6] == 0);
#pragma oss taskloop grainsize(4) inout(v[i + g_shared - 7])
  for (int i = 0; i < 8; ++i)
    v[i] = g_shared;
#pragma oss taskwait
  CHECK(v[7] == 7);
}

// The tasks inside of a task that names a global or static variable use the variable; a local one they copy.
static int g_nested[8];
template <class T>
struct with_row {
  static T row[4];
  void tasks() {
#pragma oss task inout(row[1])
    {
#pragma oss task
      row[2] = T(3);
#pragma oss taskwait
      row[1] = T(2);
    }
#pragma oss taskwait
    CHECK(row[1] == T(2) && row[2] == T(3));
  }
};
template <class T>
T with_row<T>::row[4];

static void inside_of_tasks() {
  static int counter = 0;
  static int *pointer = g_nested;
  int local[8] = {}, plain = 0;
#pragma oss task inout(g_nested[3], pointer[0], local[3], plain) shared(counter)
  {
#pragma oss task
    {
      g_nested[4] = 1;
      counter = 5;
      local[4] = 1;
      plain = 1;
      pointer = nullptr;
#pragma oss task inout(g_nested[6])
#pragma oss task
      g_nested[5] = 2;
#pragma oss taskwait
    }
#pragma oss taskwait
    CHECK(pointer == g_nested);
    g_nested[3] = local[3] = 3;
    plain += 6;
  }
#pragma oss taskwait
  CHECK(g_nested[3] == 3 && g_nested[4] == 1 && g_nested[5] == 2 && counter == 5);
  CHECK(local[3] == 3 && local[4] == 0 && plain == 6 && pointer == g_nested);
#pragma oss task default(shared) inout(g_nested[3])
#pragma oss task
  g_nested[7] = 9;
#pragma oss task default(none) inout(g_nested[3])
#pragma oss task
  g_nested[3] = 8;
#pragma oss taskwait
  CHECK(g_nested[7] == 9 && g_nested[3] == 8);
#pragma oss taskloop inout(g_nested[3])
  for (int i = 0; i < 2; ++i) {
#pragma oss task
    g_nested[i] = i + 1;
#pragma oss taskwait
  }
#pragma oss taskwait
  CHECK(g_nested[0] == 1 && g_nested[1] == 2);
  with_row<int>().tasks();
  with_row<double>().tasks();
}

int main() {
  const int total = g_total;
  indices();
  CHECK(g_total == total + 1);
  g_total = total;
  space::indices();
  with_static::indices();
  clauses();
  by_dependences();
  inside_of_tasks();
  objects();
  lives_as_long_as_its_children();
}

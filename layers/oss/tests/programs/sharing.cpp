// SPDX-License-Identifier: Apache-2.0
// How a task gets at variables: by clauses, by its dependences, else as a copy.
#include "check.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

static int g_total = 1;
static int g_row[3] = {1, 2, 3};
static std::atomic<int> g_copies = 0, g_live = 0; // tasks destroy copies

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

static std::atomic<bool> g_changed = false;
/// The creator of a task has changed what the task shares.
static void change() { g_changed.store(true, std::memory_order_release); }
/// The task waits for one change.
static void wait_for_change() {
  while (!g_changed.exchange(false, std::memory_order_acquire))
    std::this_thread::yield();
}

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
    wait_for_change();
    CHECK(g_shared == 7);
  }
#pragma oss task inout(g_total) in(v[g_total])
  g_total += 1;
  g_at = g_count = 5;
  g_shared = 7;
  change();
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

// Indices are copies under every default; constants, types and members are none.
static int g_n = 1;
static void defaults_and_indices() {
  int v[4] = {}, i = 1, seen = 0;
  const int from_here = g_n + 1;
  constexpr int k_size = 2;
  std::vector<int> row(4);
#pragma oss task default(shared) inout(v[i], row[g_n]) in(v[k_size], v[one_more])
  {
    be_late();
    int all[k_size + one_more] = {1, 2, 3};
    v[i] = all[2];
    row[static_cast<std::size_t>(g_n)] = 4;
  }
  i = 2;
  g_n = 3;
#pragma oss taskwait
  CHECK(v[1] == 3 && v[2] == 0 && row[1] == 4 && row[3] == 0);
#pragma oss task default(none) out(v[i], v[g_n]) in({v[k], k = 0; i}) in(v[from_here], v[k_size], v[one_more]) shared(seen)
  {
    be_late();
    v[i] = i + one_more;
    v[g_n] = from_here;
    seen = k_size;
  }
  i = g_n = 0;
#pragma oss taskwait
  CHECK(v[2] == 3 && v[3] == 2 && v[0] == 0 && seen == 2);
#pragma oss taskloop grainsize(2) default(none) inout(v[i + k - k])
  for (int k = 0; k < 4; ++k)
    v[i] += k;
#pragma oss taskwait
  CHECK(v[0] == 6);
  g_n = 1;
}
// The parser has not seen what a statement declares, nor the rest of a class, when the pragma is read.
static int g_later = 3, g_member = 3, g_base = 3;
struct with_base {
  int g_base = 1;
};
struct with_branches {
  int n = 3;
#ifdef ABSENT
  void set(int k) {
#else
  void set(long k) {
#endif
    n = static_cast<int>(k);
  }
};
static void behind_branches(int k, int *p) {
#pragma oss task default(none) firstprivate(k) shared(p)
  *p = k;
#pragma oss taskwait
}
struct with_members : with_base {
  int use() {
    int v[4] = {};
#pragma oss task inout(v[s_later], v[g_member], v[g_base])
    {
      wait_for_change();
      v[s_later] += 1;
      v[g_member] += 2;
      v[g_base] += 4;
    }
    s_later = 2;
    g_member = g_base = 0;
    change();
#pragma oss taskwait
    const int all = v[0] * 100 + v[1] * 10 + v[2];
    s_later = g_member = g_base = 1;
    return all;
  }
  void sum(int n);
  static int of_class(int n) {
    int v[2] = {};
#pragma oss task default(none) firstprivate(n) out(v)
    v[1] = n;
#pragma oss taskwait
    return v[1];
  }
  int by_default(int n) {
    int sum = 0;
#pragma oss task default(none) firstprivate(n) out(sum)
    sum = n + g_member + this->g_base;
#pragma oss taskwait
    return sum;
  }
  static inline int s_later = 1;
  int g_member = 1;
  int total = 0;
};
void with_members::sum(int n) {
  int v[4] = {};
#pragma oss task default(none) firstprivate(n) inout(v[g_member])
  {
    wait_for_change();
    v[g_member] = n;
    total += n;
  }
  g_member = 2;
  change();
#pragma oss taskwait
  CHECK(v[2] == n && v[1] == 0);
}
// What hides a member is a variable, whose copy a task has under every default.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wshadow"
struct with_hidden {
  int n = 3, m;
  explicit with_hidden(int k) : m{k} {
#pragma oss task default(none)
    m += n;
#pragma oss taskwait
  }
  int parameters(int n) {
    int v[4] = {};
#pragma oss task default(none) inout(v[n])
    {
      be_late();
      v[n] += 1;
    }
#pragma oss task default(shared) inout(v[n])
    {
      be_late();
      v[n] += 2;
    }
#pragma oss task firstprivate(n) shared(v)
    v[3] = this->n = n + 4;
    n = 0;
#pragma oss taskwait
    return v[1] * 10 + v[3] + n;
  }
  int locals() {
    int v[4] = {};
    const auto write = [&v](int m) {
      for (int n = 0; n < 3; ++n)
#pragma oss task default(shared) out(v[n])
        v[n] = m;
#pragma oss taskwait
    };
    write(n);
    return v[0] + v[1] + v[2];
  }
};
#pragma clang diagnostic pop
static void not_parsed_yet() {
  with_members m;
  with_hidden h(5);
  CHECK(h.m == 8 && h.parameters(1) == 35 && h.n == 5 && h.locals() == 15);
  CHECK(m.use() == 610 && with_members::of_class(4) == 4 && m.by_default(5) == 7);
  m.sum(8);
  CHECK(m.total == 8);
  with_branches branches;
  branches.set(4);
  behind_branches(7, &branches.n);
  CHECK(branches.n == 7);
  int v[4] = {};
#pragma oss task inout(v)
  {
    static int g_later = 1;
    constexpr int k_last = 2;
#pragma oss task inout(v[g_later]) in(v[k_last])
    {
      be_late();
      int all[k_last] = {7};
      v[g_later] = all[0];
    }
    g_later = 0;
#pragma oss taskwait
    CHECK(v[0] == 0);
  }
#pragma oss taskwait
  CHECK(v[1] == 7 && g_later == 3 && g_member == 3 && g_base == 3);
}

// A private variable is there until the children are complete.
struct whole {
  static inline std::atomic<int> live = 0; // tasks without an order have private objects
  int n = 3;
  whole() { ++live; }
  whole(const whole &) = delete;
  ~whole() {
    n = -1;
    --live;
  }
};
static void private_variables() {
  int seen = 0, row[2] = {1, 1};
  std::string text = "outer";
  {
    whole object;
#pragma oss task private(text, row, object) shared(seen)
    {
      text = "a text that is longer than its place";
      row[1] = 5;
#pragma oss task shared(text, row, object, seen)
      {
        be_late();
        seen = static_cast<int>(text.size()) + row[1] + object.n;
      }
    }
#pragma oss taskwait
    CHECK(seen == 36 + 5 + 3 && text == "outer" && row[1] == 1 && whole::live == 1);
#pragma oss task for private(object) chunksize(1) inout(seen)
    for (int i = 0; i < 8; ++i) {
#pragma oss critical
      seen += object.n;
    }
#pragma oss task private(object) onready(object.n = 9) out(row[0])
    row[0] = object.n;
#pragma oss taskwait
  }
  CHECK(seen == 44 + 24 && whole::live == 0 && row[0] == 9);
}

int main() {
  defaults_and_indices();
  not_parsed_yet();
  private_variables();
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

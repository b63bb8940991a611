// SPDX-License-Identifier: Apache-2.0
// Each form of a dependence orders tasks: a task that came too early would see another value.
#include "check.hpp"

#include <atomic>
#include <vector>

static void order_of_one_object() {
  int x = 0, seen[3] = {};
#pragma oss task out(x)
  {
    be_late();
    x = 1;
  }
  for (int i = 0; i < 2; ++i) {
#pragma oss task in(x)shared(seen)
    seen[i] = x;
  }
#pragma oss task inout(x)
  {
    be_late();
    x += 10;
  }
#pragma oss task in(x)shared(seen)
  seen[2] = x;
#pragma oss taskwait
  CHECK(seen[0] == 1 && seen[1] == 1 && seen[2] == 11);
}

static void aliases() {
  int x = 0, y = 0, seen = 0;
#pragma oss task depend(out : x)
  {
    be_late();
    x = 2;
  }
#pragma oss task depend(in : x) depend(inout : y)
  y += x;
#pragma oss task depend(weak, in : y) depend(inout : seen)
  {
#pragma oss task depend(in : y) depend(inout : seen)
    seen = y;
  }
  for (int i = 0; i < 20; ++i) {
#pragma oss task depend(mutexinoutset : x)
    x += 1;
  }
  std::atomic<int> added = 0;
  for (int i = 0; i < 20; ++i) {
#pragma oss task depend(inoutset : y) shared(added)
    added += y;
  }
#pragma oss taskwait
  CHECK(seen == 2 && x == 22 && added == 40);
}

static void weak_forms() {
  int a = 0, b = 0, seen = 0;
#pragma oss task weakout(a)
  {
#pragma oss task out(a)
    {
      be_late();
      a = 1;
    }
  }
#pragma oss task weakin(a) weakinout(b)
  {
#pragma oss task in(a)inout(b)
    {
      be_late();
      b += a;
    }
  }
#pragma oss task weakcommutative(b)
  for (int i = 0; i < 10; ++i) {
#pragma oss task commutative(b)
    b += 1;
  }
  std::atomic<int> together = 0;
#pragma oss task weakconcurrent(b) shared(together)
  for (int i = 0; i < 10; ++i) {
#pragma oss task concurrent(b) shared(together)
    together += b;
  }
#pragma oss task in(b)shared(seen)
  seen = b;
#pragma oss taskwait
  CHECK(a == 1 && b == 11 && seen == 11 && together == 110);
}

static void commutative_and_concurrent() {
  long sum = 0;
  std::atomic<long> both = 0;
  int data = 0;
  for (int i = 0; i < 100; ++i) {
#pragma oss task commutative(sum)
    {
      const long old = sum;
      if (i % 25 == 0)
        be_late();
      sum = old + i;
    }
  }
  for (int i = 0; i < 10; ++i) {
#pragma oss task concurrent(data) shared(both)
    both += i;
  }
#pragma oss task inout(data) shared(both)
  data = static_cast<int>(both.load());
#pragma oss taskwait
  CHECK(sum == 4950 && data == 45);
}

static void elements_and_members() {
  struct pair {
    int first = 0, second = 0;
  } p, *q = &p;
  int a[4][4] = {}, seen = 0;
  std::vector<int> v(4);
#pragma oss task out(q->first, a[1][2], v[3])
  {
    be_late();
    q->first = 1;
    a[1][2] = 2;
    v[3] = 3;
  }
#pragma oss task in(p.first)in(a[1][2], *(v.data() + 3)) out(p.second) shared(v)
  p.second = p.first + a[1][2] + v[3];
#pragma oss task in((*q).second)shared(seen)
  seen = q->second;
#pragma oss taskwait
  CHECK(p.second == 6 && seen == 6);
}

static void sections_and_shapes() {
  constexpr int n = 8;
  int v[n] = {}, m[n][n] = {}, ok = 0;
  int *const p = v;
#pragma oss task out(v[2; 3])
  {
    be_late();
    v[2] = v[3] = v[4] = 1;
  }
#pragma oss task in(p[2 : 4])inout(ok)
  ok += p[2] + p[3] + p[4]; // 3
#pragma oss task inout([n] p)
  {
    be_late();
    p[7] = 5;
  }
#pragma oss task in(v[ : ])inout(ok)
  ok += v[7]; // 8
#pragma oss task inout(v[0 : ])
  {
    be_late();
    v[0] = 7;
  }
#pragma oss task in(v[ : 3])inout(ok)
  ok += v[0]; // 15
#pragma oss task out(m[1; 2][4; 2])
  {
    be_late();
    m[1][4] = m[2][5] = 9;
  }
  int *const flat = &m[0][0];
#pragma oss task in([n][n] flat[1 : 2][4; 2])inout(ok)
  ok += flat[n + 4] + flat[2 * n + 5]; // 33
  int(*rows)[n] = m;
#pragma oss task inout(rows[1][4; 2])
  {
    be_late();
    rows[1][5] = 10;
  }
#pragma oss task in(m[1][4])inout(ok) shared(m)
  ok += m[1][5]; // 43
  int cube[2][3][4] = {};
  int *const c = &cube[0][0][0];
#pragma oss task out(cube[1; 1][2; 1][1 : 3])
  {
    be_late();
    cube[1][2][3] = 4;
  }
#pragma oss task in(([2][3][4] c)[1; 1][2; 1][1 : 3])inout(ok) if (c != nullptr)
  ok += c[23]; // 47
#pragma oss taskwait
  CHECK(ok == 47);
}

static void multi_dependences() {
  constexpr int n = 6;
  int v[n] = {}, m[n][n] = {}, sum = 0, few = 0;
  for (int i = 0; i < n; ++i) {
#pragma oss task out(v[i])
    {
      be_late();
      v[i] = i + 1;
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
#pragma oss task out(m[i][j])
      {
        if (i == j)
          be_late();
        m[i][j] = 1;
      }
    }
#pragma oss task in({v[i], i = 0; n}) in({m[i][j], i = 0; n, j = 0 : n - 1}) shared(sum)
  {
    for (int i = 0; i < n; ++i) {
      sum += v[i];
      for (int j = 0; j < n; ++j)
        sum += m[i][j];
    }
  }
#pragma oss task in({v[k], k = {1, 4}})                                                            \
    in({v[i], i = 0 : n - 1 : 3}, {m[i][j], i = 2; 1, j = i : i + 1}) out(few)
  few = v[0] + v[1] + v[3] + v[4] + m[2][2] + m[2][3];
#pragma oss taskwait in({v[i], i = n - 1 : 0 : -1})
  CHECK(v[0] + v[5] == 7);
#pragma oss taskwait
  CHECK(sum == 21 + n * n && few == 1 + 2 + 4 + 5 + 2);
  // Down with bounds without a sign, a list of two types, a negative count beside them.
  const std::size_t size = n;
  const unsigned small = n;
  int waits = 0;
  for (int i = 0; i < n; ++i) {
#pragma oss task out(v[i])
    {
      be_late();
      v[i] = 10 + i;
    }
  }
#pragma oss task in({v[k], k = size - 1 : 0 : -1}) inout(waits)
  waits += v[0] == 10 && v[5] == 15;
  for (int i = 0; i < n; ++i) {
#pragma oss task out(v[i])
    {
      be_late();
      v[i] = 20 + i;
    }
  }
#pragma oss task in({v[k], k = small - 1 : 1 : -2}) in({v[k], k = {0, size - 2, 2U}}) in({v[k], k = small; -1}) inout(waits)
  waits += v[5] == 25 && v[3] == 23 && v[1] == 21 && v[0] == 20 && v[4] == 24 && v[2] == 22;
#pragma oss taskwait
  CHECK(waits == 2);
  int none = 0;
#pragma oss task in({v[i], i = 0; none}) inout(none)
  none = 1;
#pragma oss taskwait
  CHECK(none == 1);
}

int main() {
  order_of_one_object();
  aliases();
  weak_forms();
  commutative_and_concurrent();
  elements_and_members();
  sections_and_shapes();
  multi_dependences();
}

// SPDX-License-Identifier: Apache-2.0
// atomic in all forms and orders, on all kinds of numbers; assert, lint and onready.
#pragma oss assert("version.dependencies == discrete")
#include "check.hpp"

#include <weft/block.hpp>

#include <atomic>
#include <cstdint>

static constexpr int k_tasks = 200;

template <class T>
static T counted() {
  T up{}, down{}, twice{1}, back{}, half{}, seen{};
  volatile T loud{};
  for (int i = 0; i < k_tasks; ++i) {
#pragma oss task shared(up, down, twice, back, half, seen, loud)
    {
#pragma oss atomic
      up++;
#pragma oss atomic update seq_cst
      --down;
#pragma oss atomic update relaxed
      twice = twice + 2;
#pragma oss atomic acq_rel
      half += 0.5;
#pragma oss atomic release
      loud += 1;
#pragma oss atomic acquire
      back = 1 - back;
#pragma oss atomic
      back -= 0;
      T now;
#pragma oss atomic read acquire
      now = up;
      CHECK(now >= 1 && now <= T(k_tasks));
#pragma oss atomic write release
      seen = now;
#pragma oss atomic read relaxed
      now = loud;
      CHECK(now >= 1);
    }
  }
#pragma oss taskwait
#pragma oss atomic read
  up = up;
  CHECK(T(down + T(k_tasks)) == T(0) && twice == T(1 + 2 * k_tasks) && back == T(0) &&
        loud == T(k_tasks));
  CHECK(half == (T(0.5) == 0 ? T(0) : T(k_tasks / 2)));
  return up;
}

static void operators() {
  unsigned x = 100;
  int n = 0;
  const auto next = [&] { return ++n; };
#pragma oss atomic
  x *= 3;
#pragma oss atomic
  x /= 2;
#pragma oss atomic
  x %= 100;
#pragma oss atomic
  x <<= 1;
#pragma oss atomic
  x >>= 2;
  CHECK(x == 25);
#pragma oss atomic
  x &= 0x1c;
#pragma oss atomic
  x |= 0x40;
#pragma oss atomic
  x ^= 0x0f;
  CHECK(x == 0x57);
#pragma oss atomic
  x = 0x100 - x;
#pragma oss atomic
  x = x * (2 + 1);
#pragma oss atomic
  x = x + 5 * 2;
#pragma oss atomic
  x = 1 << 1 | x;
  CHECK(x == ((0x100 - 0x57) * 3 + 10) / 4 * 4 + 3 - 0 || x == (((0x100 - 0x57) * 3 + 10) | 2));
  // The operand is evaluated once, whatever other tasks do.
#pragma oss atomic
  x += static_cast<unsigned>(next());
  CHECK(n == 1);
  bool flag = false;
#pragma oss atomic
  flag |= true;
  CHECK(flag);
  int v[4] = {1, 2, 3, 4}, *p = v;
  struct pair {
    int a[2];
  } s{{1, 2}}, *to = &s;
#pragma oss atomic
  ++p;
#pragma oss atomic
  p += 2;
  CHECK(p == v + 3);
#pragma oss atomic
  (*p)++;
#pragma oss atomic
  to->a[v[0]] += v[1] - v[2];
  CHECK(v[3] == 5 && s.a[1] == 1);
  if (n == 1)
#pragma oss atomic
    ++n;
  else
    n = 100;
  CHECK(n == 2);
}

static void captures() {
  int x = 10, old = 0;
  std::atomic<long> sum = 0;
  int tickets = 0;
  for (int i = 0; i < k_tasks; ++i) {
#pragma oss task shared(tickets, sum)
    {
      int mine;
#pragma oss atomic capture acq_rel
      mine = tickets++;
      sum += mine;
    }
  }
#pragma oss taskwait
  CHECK(sum == k_tasks * (k_tasks - 1) / 2 && tickets == k_tasks);
#pragma oss atomic capture
  old = ++x;
  CHECK(old == 11 && x == 11);
#pragma oss atomic capture seq_cst
  old = x--;
  CHECK(old == 11 && x == 10);
#pragma oss atomic capture
  old = x += 5;
  CHECK(old == 15 && x == 15);
#pragma oss atomic capture
  old = x = x * 2;
  CHECK(old == 30 && x == 30);
#pragma oss atomic capture
  old = x = 100 - x;
  CHECK(old == 70 && x == 70);
#pragma oss atomic capture
  {
    old = x;
    x -= 20;
  }
  CHECK(old == 70 && x == 50);
#pragma oss atomic capture
  {
    x = x + 1;
    old = x;
  }
  CHECK(old == 51 && x == 51);
#pragma oss atomic relaxed capture
  {
    old = x;
    x = 7;
  }
  CHECK(old == 51 && x == 7);
#pragma oss atomic capture
  {
    old = x;
    ++x;
  }
  CHECK(old == 7 && x == 8);
#pragma oss atomic capture
  {
    x--;
    old = x;
  }
  CHECK(old == 7 && x == 7);
  double d = 1.5, was = 0;
#pragma oss atomic capture
  was = d *= 4;
  CHECK(was == 6 && d == 6);
}

// An update that a comparison decides, where tasks race: each answer is given once.
template <class T>
static void compared() {
  T least = 100, most = 0, owner = 0, turn = 0;
  std::atomic<int> owners = 0, failed = 0, turns = 0;
  for (int i = 1; i <= k_tasks; ++i) {
    const T mine = static_cast<T>(1 + i % 90);
#pragma oss task shared(least, most, owner, turn, owners, failed, turns)
    {
#pragma oss atomic compare
      least = mine < least ? mine : least;
#pragma oss atomic compare acq_rel
      if (most < mine) {
        most = mine;
      }
      T found = -1;
#pragma oss atomic compare capture seq_cst
      if (owner == 0) {
        owner = mine;
      } else {
        found = owner;
      }
      found == static_cast<T>(-1) ? ++owners : ++failed;
      bool is_next;
      T next = static_cast<T>(0), after = static_cast<T>(3);
#pragma oss atomic compare capture
      {
        is_next = turn == next;
        if (is_next)
          turn = after;
      }
      turns += is_next;
    }
  }
#pragma oss taskwait
  CHECK(least == 1 && most == 90);
  CHECK(owners == 1 && failed == k_tasks - 1 && turns == 1 && turn == 3);
}

static int g_evaluated;
static int evaluated(int value) {
  ++g_evaluated;
  return value;
}
static void comparisons() {
  int x = 5, v = 0;
  bool r = false;
  // x op e and e op x, that hold and do not; each operand is evaluated once.
#pragma oss atomic compare
  x = x < evaluated(9) ? evaluated(9) : x;
  CHECK(x == 9 && g_evaluated == 1);
#pragma oss atomic compare update release
  x = x > 4 ? 4 : x;
  CHECK(x == 4);
#pragma oss atomic compare
  x = 7 > x ? 7 : x;
  CHECK(x == 7);
#pragma oss atomic compare relaxed
  x = 8 < x ? 8 : x;
  CHECK(x == 7);
#pragma oss atomic compare
  x = (x == evaluated(7)) ? evaluated(1) + 1 : x;
  CHECK(x == 2 && g_evaluated == 3);
#pragma oss atomic compare
  x = 3 == x ? 100 : x;
  CHECK(x == 2);
#pragma oss atomic compare acquire
  if (x == 2)
    x = 3;
  CHECK(x == 3);
#pragma oss atomic compare
  if (x > 3) {
    x = 3;
  }
  CHECK(x == 3);
  // Kept: the old value, the new one, that of an object that has not changed, the answer.
#pragma oss atomic capture compare
  v = x = x < 6 ? 6 : x;
  CHECK(v == 6 && x == 6);
#pragma oss atomic capture compare
  v = x = x < 5 ? 5 : x;
  CHECK(v == 6 && x == 6);
#pragma oss atomic compare capture
  {
    v = x;
    x = x == 6 ? 8 : x;
  }
  CHECK(v == 6 && x == 8);
#pragma oss atomic compare capture
  {
    v = x;
    if (x < 10) {
      x = 10;
    }
  }
  CHECK(v == 8 && x == 10);
#pragma oss atomic compare capture
  {
    if (x == 10)
      x = 11;
    v = x;
  }
  CHECK(v == 11 && x == 11);
#pragma oss atomic compare capture
  {
    x = 20 < x ? 20 : x;
    v = x;
  }
  CHECK(v == 11 && x == 11);
  v = -1;
#pragma oss atomic compare capture
  if (x == 11) {
    x = 12;
  } else {
    v = x;
  }
  CHECK(v == -1 && x == 12);
#pragma oss atomic compare capture
  if (11 == x)
    x = 13;
  else
    v = x;
  CHECK(v == 12 && x == 12);
#pragma oss atomic compare capture
  {
    r = x == 12;
    if (r) {
      x = 14;
    } else {
      v = x;
    }
  }
  CHECK(r && v == 12 && x == 14);
#pragma oss atomic compare capture
  {
    r = x == 12;
    if (r) {
      x = 15;
    } else {
      v = x;
    }
  }
  CHECK(!r && v == 14 && x == 14);
  // Types as in a comparison of the language; pointers; members; below an `if` of the user.
  unsigned char small = 200;
  const int wide = 300;
#pragma oss atomic compare
  small = small < wide ? wide : small;
  CHECK(small == static_cast<unsigned char>(300));
  int *p = nullptr, *q = &x;
#pragma oss atomic compare
  p = p == nullptr ? q : p;
  CHECK(p == &x);
#pragma oss atomic compare
  p = p == q ? NULL : p;
  CHECK(p == nullptr);
#pragma oss atomic compare
  if (p == NULL)
    p = q;
  CHECK(p == q);
  struct {
    long double a[2];
  } s = {{1.5L, 2.5L}};
  long double was = 0;
  if (x == 14)
#pragma oss atomic compare capture
    was = s.a[1] = s.a[1] < 4 ? 4 : s.a[1];
  else
    x = -1;
  CHECK(was == 4 && s.a[1] == 4 && s.a[0] == 1.5L && x == 14);
  double nan = __builtin_nan(""), d = nan;
#pragma oss atomic compare
  d = d == nan ? 1 : d;
  CHECK(d != d);
}

static weft::task_ref hold() {
  weft::this_task::increase_events();
  return weft::this_task::self();
}
// onready is evaluated once with the task's variables when the dependences allow it to run.
static void ready() {
  int x = 0, y = 1, at = -1;
  std::atomic<int> asked = 0;
  std::atomic<bool> go = false;
#pragma oss task inout(x) shared(go)
  {
    while (!go) {
#pragma oss taskyield
    }
    x = 5;
  }
  weft::task_ref event;
#pragma oss task in(x)onready((at = x, y += x, event = hold(), ++asked)) shared(at, asked, event)  \
    firstprivate(y)
  CHECK(y == 6 && at == 5);
  CHECK(asked == 0 && at == -1);
  go = true;
  // No dependence orders this task behind onready: a reader of x too may begin before it.
#pragma oss task shared(event, asked)
  {
    while (asked == 0) {
#pragma oss taskyield
    }
    weft::decrease_events(event);
  }
#pragma oss taskwait
  CHECK(asked == 1 && y == 1);
  struct alignas(128) wide {
    int n = 3;
  } w;
#pragma oss task onready(++w.n)
  CHECK(w.n == 4 && reinterpret_cast<std::uintptr_t>(&w) % 128 == 0);
#pragma oss taskwait
}

int main() {
  CHECK(counted<int>() == k_tasks);
  CHECK(counted<unsigned char>() == static_cast<unsigned char>(k_tasks));
  CHECK(counted<unsigned long long>() == k_tasks);
  CHECK(counted<float>() == k_tasks);
  CHECK(counted<double>() == k_tasks);
  CHECK(counted<long double>() == k_tasks);
  operators();
  captures();
  compared<int>();
  compared<unsigned char>();
  compared<long long>();
  compared<float>();
  compared<long double>();
  comparisons();
  ready();
}

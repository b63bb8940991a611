// SPDX-License-Identifier: Apache-2.0
// Pragmas where C++ lets statements be: templates, bodies in classes, lambdas, macros, headers; exceptions.
#include "check.hpp"
#include "header.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#define DO_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define TASK_INOUT(x, ...) DO_PRAGMA(oss task inout(x)) __VA_ARGS__
#define WAIT_ALL _Pragma("oss taskwait")
#define SIZE 4

static int fibonacci(int n) {
  if (n < 2)
    return n;
  int a = 0, b = 0;
#pragma oss task shared(a)
  a = fibonacci(n - 1);
#pragma oss task shared(b) if (n > 5)
  b = fibonacci(n - 2);
#pragma oss taskwait
  return a + b;
}

class account {
 public:
  explicit account(int start) : m_money(start) {
#pragma oss task inout(m_money)
    m_money += 1;
#pragma oss taskwait
  }
  void pay(int n) {
#pragma oss task inout(m_money) firstprivate(n)
    this->m_money -= n;
  }
  void take(int n) {
#pragma oss task commutative(this->m_money)
    m_money += n;
  }
  [[nodiscard]] int money() const { return m_money; }

 private:
  int m_money;
};

template <class T>
T apply(T value, const std::function<T(T)> &f) {
  T result{};
  const T *p = &value;
#pragma oss task in(*p)out(result)
  if constexpr (sizeof(T) > 1)
    result = f(*p);
  else
    result = *p;
#pragma oss taskwait
  return result;
}

static void all_kinds_of_statements() {
  int n = 0, chosen = 1;
  for (int i = 0; i < 3; ++i)
#pragma oss task inout(n)
    n += 1;
  if (chosen > 0)
#pragma oss task inout(n)
    n += 1;
  else
#pragma oss task inout(n)
    n += 100;
#pragma oss task inout(n)
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      n += 1;
#pragma oss task inout(n)
  do {
    n += 1;
  } while (n < 10);
#pragma oss task inout(n)
  switch (n) {
  case 10:
    n += 1;
    break;
  default:
    n = 0;
  }
#pragma oss task inout(n)
  try {
    throw 5;
  } catch (int five) {
    n += five;
  } catch (...) {
    n = 0;
  }
#pragma oss task inout(n)
  if (n == 16) {
    n += 1;
  } else if (n == 17)
    n = 0;
  else
    n = 1;
#pragma oss task inout(n)
  if (n == 17)
    n += 1;
#pragma oss task inout(n)
  [&] { n += 2; }();
#pragma oss task
  ;
#pragma oss task
  {
  }
#pragma oss task inout(n) label("SIZE")
  n += SIZE;
#undef SIZE
#pragma oss taskwait
  CHECK(n == 24);
}

// Pragmas of the compiler, attributes and labels belong to the statement behind them, and what follows that is outside of the task.
static void statements_with_prefixes() {
  int n = 0, outside = 0;
#pragma oss task inout(n)
#pragma clang loop unroll(disable) interleave(disable)
  for (int i = 0; i < 4; ++i)
    n += 1;
  outside += 1;
#pragma oss task inout(n)
#pragma unroll 2
  for (int i = 0; i < 4; ++i) {
    n += 1;
  }
  outside += 1;
#pragma oss task inout(n)
#pragma GCC unroll 2
  while (n < 10)
    n += 1;
  outside += 1;
#pragma oss task inout(n)
again: {
  if (++n < 20)
    goto again;
}
  outside += 1;
#pragma oss task inout(n)
  __attribute__((nomerge)) if (n == 20) {
    be_late();
    n += 1;
  }
  outside += 1;
#pragma oss task inout(n)
  switch (n)
  case 21: {
    n += 1;
  }
  outside += 1;
#pragma oss task inout(n)
  if (n > 0)
#pragma nounroll
    for (int i = 0; i < 2; ++i) {
      n += 1;
    }
  outside += 1;
#pragma oss task inout(n)
  switch (n)
  default:
#pragma nounroll
    for (int i = 0; i < 2; ++i) {
      n += 1;
    }
  outside += 1;
#pragma oss task inout(n)
  [[likely]] if (n == 26) [[likely]] {
    n += 1;
  }
  outside += 1;
#pragma oss taskwait
  CHECK(n == 27 && outside == 9);
}

// The same in front of a loop that is divided.
static void loops_with_prefixes() {
  int n = 0, outside = 0;
#pragma oss taskloop shared(n) grainsize(5)
#pragma unroll 2
  for (int i = 0; i < 20; ++i)
#pragma oss atomic
    n += 1;
  outside += 1;
#pragma oss taskloop for shared(n) grainsize(10)
here:
#pragma clang loop unroll(disable)
  for (int i = 0; i < 20; i += 2) {
#pragma nounroll
    for (int j = 0; j < 2; ++j)
#pragma oss atomic
      n += 1;
  }
  outside += 1;
#pragma oss taskloop collapse(2) shared(n)
  __attribute__((nomerge)) for (int i = 0; i < 4; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 5; ++j)
#pragma oss atomic
      n += 1;
  outside += 1;
#pragma oss taskwait
#pragma oss taskiter inout(n)
#pragma nounroll
  for (int i = 0; i < 20; ++i)
#pragma oss task inout(n)
    n += 1;
  outside += 1;
  int asked = 0;
#pragma oss taskiter shared(asked) inout(n)
#pragma nounroll
  while (++asked <= 6)
#pragma oss task inout(n)
    n += 1;
  outside += 1;
#pragma oss taskwait
  CHECK(n == 86 && outside == 5);
}

// What an expression with a call begins with is no return type.
struct stream {
  int value = 0;
  stream &operator>>(int n) {
    value += n;
    return *this;
  }
  stream &operator>(int n) { return *this >> n; }
  stream &operator*(int n) { return *this >> n; }
  stream &operator&(int n) { return *this >> n; }
};
namespace inner {
stream g_in;
}
static bool note(int &n) {
  ++n;
  return true;
}
static int get(int n) { return n; }
static void calls() {
  int n = 0;
  const bool ok = true;
  stream in;
#pragma oss task inout(n)
  ok && note(n);
#pragma oss task inout(n)
  ok && ok && note(n);
#pragma oss task inout(in)
  inner::g_in >> get(2);
#pragma oss task inout(in)
  in >> get(1);
#pragma oss task inout(in)
  in > get(10), in > get(20);
#pragma oss task inout(in)
  in *get(100);
#pragma oss task inout(in)
  in &get(200);
#pragma oss taskwait
  CHECK(n == 2 && inner::g_in.value == 2 && in.value == 331);
}

static void exceptions() {
  int x = 0;
#pragma oss task inout(x)
  throw std::runtime_error("of a task");
  std::string what;
  try {
#pragma oss taskwait
  } catch (const std::runtime_error &e) {
    what = e.what();
  }
  CHECK(what == "of a task");
#pragma oss task inout(x)
  {
    try {
#pragma oss critical(careful)
      throw 3;
    } catch (int three) {
#pragma oss critical(careful)
      x = three;
    }
  }
#pragma oss taskwait
  CHECK(x == 3);
}

static void macros_and_lambdas() {
  int x = 1;
  TASK_INOUT(x, x *= 3);
  TASK_INOUT(x, { x += 1; })
  WAIT_ALL;
  CHECK(x == 4);
  const auto later = [&x](int by) {
#pragma oss task inout(x)
    x += by;
  };
  later(3);
  later(4);
  const auto generic = [](auto &value) {
#pragma oss task inout(value)
    value += 1;
  };
  generic(x);
  double d = 0.5;
  generic(d);
  const auto [left, right] = std::pair{1, 2};
#pragma oss task inout(x)
  x += left + right;
#pragma oss taskwait
  CHECK(x == 15 && d == 1.5);
}

namespace inner {
int g_value = 1;
}

int main() {
  calls();
  CHECK(fibonacci(12) == 144);
  account a(10);
  for (int i = 0; i < 4; ++i) {
    a.pay(1);
    a.take(2);
  }
#pragma oss taskwait
  CHECK(a.money() == 15);
  CHECK(apply<int>(20, [](int i) { return i + 1; }) == 21 && apply<char>('x', nullptr) == 'x');
  CHECK(apply<std::string>("a", [](std::string s) { return s + "b"; }) == "ab");
  all_kinds_of_statements();
  statements_with_prefixes();
  loops_with_prefixes();
  exceptions();
  macros_and_lambdas();
  stencil<double, 5> s;
  s.fill(1);
  CHECK(s.sum() == 15);
  stencil<int, 3> t;
  t.fill(2);
  CHECK(t.sum() == 9);
  int n = 0;
  decltype(t)::count(n);
  CHECK(n == 1 && twice(21) == 42);
#pragma oss task inout(inner::g_value)
  inner::g_value += 1;
#pragma oss taskwait
  CHECK(inner::g_value == 2);
}

// SPDX-License-Identifier: Apache-2.0
// The clauses beside dependences and variables, and the directives without a task.
#include "check.hpp"

#include <atomic>
#include <cstring>
#include <string>

static const char *name_of(int i) { return i == 1 ? "odd" : "even"; }

static void undeferred_and_final() {
  int order = 0, at = -1;
#pragma oss task if (0) shared(order)
  {
    be_late();
    order = 1;
  }
  CHECK(order == 1);
  int *nothing = nullptr;
#pragma oss task if (nothing) shared(order)
  order = 2;
  CHECK(order == 2);
#pragma oss task final(true) shared(at)
  {
    CHECK(weft::this_task::in_final());
    int inside = 0;
#pragma oss task shared(inside)
    inside = 1;
    CHECK(inside == 1); // it has run in place
    at = inside;
  }
#pragma oss task final(order > 100)
  CHECK(!weft::this_task::in_final());
#pragma oss taskwait
  CHECK(at == 1);
}

static void hints() {
  std::string seen[2];
  unsigned long long work = 0;
  for (int i = 0; i < 2; ++i) {
#pragma oss task label(name_of(i)) priority(i - 3) shared(seen)
    seen[i] = weft::this_task::label();
  }
#pragma oss task cost(2 * 21) label("hint") out(work)
  {
    work = weft::this_task::cost();
    CHECK(std::strcmp(weft::this_task::label(), "hint") == 0);
  }
#pragma oss taskwait
  CHECK(seen[0] == "even" && seen[1] == "odd" && work == 42);
}

static void waits() {
  int x = 0, y = 0, seen = 0;
#pragma oss task out(x) wait
  {
#pragma oss task shared(x)
    {
      be_late();
      x = 1;
    }
  }
#pragma oss task in(x)out(y)
  y = x;
#pragma oss taskwait in(y)
  CHECK(y == 1);
#pragma oss task inout(y)
  {
    be_late();
    y = 2;
  }
#pragma oss taskwait on(y)
  CHECK(y == 2);
#pragma oss task inout(y)
  {
    be_late();
    y = 3;
  }
#pragma oss taskwait depend(inout : y)
  CHECK(y == 3);
#pragma oss task in(y)shared(seen)
  {
    be_late();
    seen = y;
  }
#pragma oss taskwait out(y)
  CHECK(seen == 3);
  // The wait names one object and does not wait for another task.
  std::atomic<bool> go = false;
#pragma oss task inout(x) shared(go)
  while (!go) {
#pragma oss taskyield
  }
#pragma oss taskwait inout(y)
  go = true;
#pragma oss taskwait
}

static void releases() {
  int a = 0, b[2] = {}, seen = 0;
  std::atomic<bool> over = false;
#pragma oss task out(a) out(b[0], b[1]) shared(over)
  {
    a = 1;
    b[0] = 2;
    b[1] = 3;
#pragma oss release out(a) out({b[i], i = 0; 2})
    while (!over) {
#pragma oss taskyield
    }
  }
#pragma oss task in(a)in(b[0], b[1])shared(seen, over)
  {
    seen = a + b[0] + b[1];
    over = true;
  }
#pragma oss taskwait
  CHECK(seen == 6);
}

static void sections() {
  int one = 0, two = 0, three = 0;
  for (int i = 0; i < 200; ++i) {
#pragma oss task shared(one, two, three)
    {
#pragma oss critical
      ++one;
#pragma oss critical(two)
      {
        const int old = two;
        if (i % 50 == 0)
          be_late();
        two = old + 1;
      }
#pragma oss critical(two)
      if (i % 2 == 0)
        ++three;
      else
        three += 2;
    }
  }
#pragma oss taskwait
  CHECK(one == 200 && two == 200 && three == 300);
}

int main() {
  undeferred_and_final();
  hints();
  waits();
  releases();
  sections();
}

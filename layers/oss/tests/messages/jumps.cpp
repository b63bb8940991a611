// SPDX-License-Identifier: Apache-2.0
// Jumps out of the statement behind a pragma are errors; those inside of it are not.
#include <coroutine>
int f(int n) {
#pragma oss task inout(n)
  return 0; // error 3: 'return' leaves the statement of '#pragma oss task'
#pragma oss task inout(n)
  {
    if (n > 2)
      return 1; // error 7: 'return' leaves the statement of '#pragma oss task'
    auto twice = [](int i) { return 2 * i; };
    struct local {
      int get() const { return 3; }
    };
    n = twice(n) + local{}.get();
  }
  for (int i = 0; i < n; ++i) {
#pragma oss task inout(n)
    {
      if (n == 3)
        break; // error 9: 'break' leaves the statement of '#pragma oss task'
      if (n == 4)
        continue; // error 9: 'continue' leaves the statement of '#pragma oss task'
      for (;;) {
        if (n == 5)
          continue;
        break;
      }
      switch (n) {
      case 6: break;
      case 7: continue; // error 15: 'continue' leaves the statement of '#pragma oss task'
      default: ++n;
      }
    }
#pragma oss critical
    if (n == 8)
      break; // error 7: 'break' leaves the statement of '#pragma oss critical'
  }
#pragma oss task inout(n)
  {
    if (n == 9)
      goto inside;
    goto outside; // error 5: 'goto' leaves the statement of '#pragma oss task'
  inside:
    ++n;
  }
outside:;
#pragma oss task // error 9: '#pragma oss task' has no statement behind it
}

// Pragmas of the compiler and attributes hide no jump.
void prefixes(int n, int x) {
#pragma oss task inout(n)
  {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      ++n;
    }
    return; // error 5: 'return' leaves the statement of '#pragma oss task'
  }
#pragma oss taskloop
  for (int i = 0; i < 40; ++i) {
    if (i == 3) [[unlikely]]
      break; // error 7: 'break' leaves the statement of '#pragma oss taskloop'
    __attribute__((nomerge)) if (f(i))
      return; // error 7: 'return' leaves the statement of '#pragma oss taskloop'
  on:
    if (i == 5)
      break; // error 7: 'break' leaves the statement of '#pragma oss taskloop'
#pragma clang loop unroll(disable)
    for (int j = 0; j < 2; ++j)
      break;
    if (i == 6)
      goto on;
#pragma oss task inout(n)
    for (;;) {
      ++n;
      break;
    }
    goto out; // error 5: 'goto' leaves the statement of '#pragma oss taskloop'
  }
out:;
#pragma oss task
#pragma nounroll
  while (x)
    if (x > 3)
      return; // error 7: 'return' leaves the statement of '#pragma oss task'
}
// Each branch is in the loop or the switch around it.
void branches(int a, int x) {
#pragma oss task
  {
    while (x)
      if (a)
        ++a;
      else
        break;
    for (;;)
      try {
        ++a;
      } catch (int) {
        break;
      } catch (...) {
        continue;
      }
    for (;;)
    in:
      if (a)
        break;
      else if (x)
        goto in;
      else
        continue;
    switch (a)
    case 1:
      break;
    if (a)
      ++a;
    else
      break; // error 7: 'break' leaves the statement of '#pragma oss task' // error 7: 'break' statement not in loop or switch statement
    try {
      ++a;
    } catch (...) {
      return; // error 7: 'return' leaves the statement of '#pragma oss task'
    }
  }
}
// Nor is a task a coroutine; those inside of it are its own affair.
struct awaited {
  bool await_ready();
  void await_suspend(std::coroutine_handle<>);
  int await_resume();
};
struct job {
  struct promise_type {
    job get_return_object();
    std::suspend_never initial_suspend();
    std::suspend_never final_suspend() noexcept;
    std::suspend_never yield_value(int);
    void return_void();
    void unhandled_exception();
  };
};
job h(int n) {
  n += co_await awaited{};
#pragma oss task
  n = co_await awaited{}; // error 7: 'co_await' in the statement of '#pragma oss task' is not possible: coroutines are no tasks, and a task that waits or blocks gives its worker away without them
#pragma oss task
  {
    if (n == (co_await awaited{})) // error 15: 'co_await' in the statement of '#pragma oss task' is not possible: coroutines are no tasks, and a task that waits or blocks gives its worker away without them
      co_return; // error 7: 'co_return' in the statement of '#pragma oss task' is not possible: coroutines are no tasks, and a task that waits or blocks gives its worker away without them
    co_yield n; // error 5: 'co_yield' in the statement of '#pragma oss task' is not possible: coroutines are no tasks, and a task that waits or blocks gives its worker away without them
  }
#pragma oss taskloop
  for (int i = 0; i < n; ++i)
    co_await awaited{}; // error 5: 'co_await' in the statement of '#pragma oss taskloop' is not possible: coroutines are no tasks, and a task that waits or blocks gives its worker away without them
#pragma oss task
  [](int m) -> job { co_yield co_await awaited{} + m; }(n);
}

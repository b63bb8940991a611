// SPDX-License-Identifier: Apache-2.0
// What a spawn can say of a task beside its accesses: final, if_, wait, label, stack_bytes,
// onready.
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>

// Deep in a recursion, tasks cost more than they bring: the children of a final task run in place.
static int leaves(int depth) {
  if (depth == 0)
    return 1;
  int left = 0, right = 0;
  weft::spawn([&left, depth] { left = leaves(depth - 1); }, weft::final(depth < 4), weft::label("left"));
  weft::spawn([&right, depth] { right = leaves(depth - 1); }, weft::final(depth < 4), weft::label("right"));
  weft::taskwait();
  return left + right;
}

// if_(false): when spawn returns, the task has run.
static bool undeferred() {
  int x = 1;
  weft::spawn([&] { x = 2; }, weft::inout(x));
  weft::spawn([&] { x *= 10; }, weft::inout(x), weft::if_(false));
  return x == 20;
}

// wait: successors start when the task's children are complete, too.
static bool waits_for_children() {
  int x = 0, seen = 0;
  weft::spawn([&] { weft::spawn([&] { x = 7; }); }, weft::out(x), weft::wait);
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  return seen == 7;
}

// stack_bytes: a body that puts much on its stack. onready: a callback when the task could start.
static bool large_stack() {
  std::atomic<int> ready = 0;
  const auto count = [](void *context) { ++*static_cast<std::atomic<int> *>(context); };
  int sum = 0;
  weft::spawn(
      [&] {
        volatile char buffer[512 << 10];
        for (std::size_t i = 0; i < sizeof buffer; i += 4096)
          buffer[i] = 1;
        for (std::size_t i = 0; i < sizeof buffer; i += 4096)
          sum += buffer[i];
      },
      weft::stack_bytes(1 << 20), weft::onready(count, &ready), weft::label("large"));
  weft::taskwait();
  return sum == 128 && ready == 1;
}

int main() {
  const int n = leaves(10);
  std::printf("%d leaves\n", n);
  const bool main_task = std::strcmp(weft::this_task::label(), "main") == 0;
  return n == 1024 && undeferred() && waits_for_children() && large_stack() && main_task ? 0 : 1;
}

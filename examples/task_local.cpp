// SPDX-License-Identifier: Apache-2.0
// Task-local storage: a value per task that moves with it from thread to thread.
#include <weft/weft.hpp>

#include <cstdio>

static weft::task_local<int> steps(0);

static void step() {
  ++*steps;
  weft::taskyield(); // may go on on another thread
}

int main() {
  int counted[8] = {};
  for (int i = 0; i < 8; ++i)
    weft::spawn([i, &counted] {
      for (int k = 0; k < i; ++k)
        step();
      counted[i] = *steps;
    });
  weft::taskwait();
  int wrong = 0;
  for (int i = 0; i < 8; ++i)
    wrong += counted[i] != i;
  std::printf("%d of 8 tasks counted the steps of others\n", wrong);
  return wrong;
}

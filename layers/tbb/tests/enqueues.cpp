// SPDX-License-Identifier: Apache-2.0
// A task for which no thread waits: only a worker of TBB's can run it.
#include "door.hpp"

#include <atomic>

#include <tbb/task_arena.h>

int main() {
  std::atomic<bool> ran{false};
  tbb::task_arena arena(4);
  arena.enqueue([&] { ran = true; });
  for (int looks = 60'000; looks > 0 && !ran; --looks)
    usleep(1000);
  CHECK(ran);
  std::puts("enqueues: ok");
}

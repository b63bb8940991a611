// SPDX-License-Identifier: Apache-2.0
// A thread of the program's own may do all that a task may: it is adopted on its first call.
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <thread>

int main() {
  std::atomic<int> sum = 0;
  {
    std::thread first([&] {
      for (int i = 0; i < 100; ++i)
        weft::spawn([&] { ++sum; });
      weft::taskwait(); // for the tasks of this thread
    });
    std::thread second([&] {
      weft::task_group group;
      for (int i = 0; i < 100; ++i)
        group.spawn([&] { ++sum; });
      group.wait();
    });
    first.join();
    second.join();
  }
  std::printf("two threads, %d tasks\n", sum.load());
  return sum == 200 ? 0 : 1;
}

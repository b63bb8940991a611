// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion: a task that finds the mutex taken is suspended, and its worker runs another one.
#include <weft/weft.hpp>

#include <cstdio>
#include <map>
#include <mutex>

int main() {
  std::map<int, int> histogram;
  int log_lines = 0;
  weft::mutex mutex;
  for (int i = 0; i < 1000; ++i)
    weft::spawn([&, i] {
      {
        std::lock_guard lock(mutex);
        ++histogram[i % 10];
      }
      if (i % 100 == 0)
        weft::critical("log", [&] { ++log_lines; });
    });
  weft::taskwait();
  std::printf("%zu bins of %d, %d lines\n", histogram.size(), histogram[0], log_lines);
  return histogram.size() == 10 && histogram[9] == 100 && log_lines == 10 ? 0 : 1;
}

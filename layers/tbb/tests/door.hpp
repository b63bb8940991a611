// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: a check that prints what differs, and the kernel threads
// of the process. They are programs of TBB and know nothing of Weft.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dirent.h>
#include <unistd.h>

namespace door {

#define CHECK(what) door::check((what), #what, __FILE__, __LINE__)

inline void check(bool holds, const char *what, const char *file, int line) {
  if (holds)
    return;
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  std::fflush(stderr);
  std::_Exit(1);
}

struct kernel_threads {
  int all = 0;
  int of_weft = 0; // by their names
};

/// Counts the kernel threads of this process.
inline kernel_threads count_kernel_threads() {
  kernel_threads found;
  DIR *const folder = opendir("/proc/self/task");
  CHECK(folder != nullptr);
  while (const dirent *const entry = readdir(folder)) {
    if (entry->d_name[0] == '.')
      continue;
    char name[64] = "";
    if (FILE *const file =
            std::fopen(("/proc/self/task/" + std::string(entry->d_name) + "/comm").c_str(), "r")) {
      if (!std::fgets(name, sizeof name, file))
        name[0] = '\0';
      std::fclose(file);
    }
    ++found.all;
    found.of_weft += std::strncmp(name, "weft-", 5) == 0;
  }
  closedir(folder);
  return found;
}

/// Checks that all threads but the first are Weft's. A thread that has just started has no name yet.
inline void check_threads() {
  if (std::getenv("TEST_STOCK"))
    return; // the program runs on TBB's own threads, to see that it is right there
  const char *const most = std::getenv("TEST_LOOKS");
  kernel_threads threads;
  for (int looks = most ? std::atoi(most) : 5000; looks > 0; --looks) {
    threads = count_kernel_threads();
    if (threads.of_weft >= 1 && threads.all == threads.of_weft + 1)
      return;
    usleep(1000);
  }
  CHECK(threads.of_weft >= 1);
  CHECK(threads.all == threads.of_weft + 1);
}

/// Returns the number of threads that the tests ask TBB for.
inline int threads_asked() {
  const char *const text = std::getenv("TEST_THREADS");
  return text ? std::atoi(text) : 4;
}

} // namespace door

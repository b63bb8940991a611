// SPDX-License-Identifier: Apache-2.0
// What a process holds, for programs that must not grow.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

struct footprint {
  long resident_kib = 0, heap_kib = 0, maps = 0, files = 0, threads = 0;
};

inline long entries_of_folder(const char *folder) {
  long n = 0;
  if (DIR *const d = opendir(folder)) {
    while (readdir(d))
      ++n;
    closedir(d);
  }
  return n - 2; // without . and ..
}

/// Reads what the process holds now, and prints it behind `what`.
inline footprint look(const char *what) {
  footprint f;
  long pages = 0;
  FILE *const statm = std::fopen("/proc/self/statm", "r");
  if (!statm || std::fscanf(statm, "%*d %ld", &pages) != 1) {
    std::fprintf(stderr, "%s: /proc/self/statm cannot be read\n", what);
    std::_Exit(1);
  }
  std::fclose(statm);
  f.resident_kib = pages * (sysconf(_SC_PAGESIZE) / 1024);
  if (FILE *const file = std::fopen("/proc/self/maps", "r")) {
    for (int c; (c = std::fgetc(file)) != EOF;)
      f.maps += c == '\n';
    std::fclose(file);
  }
  f.heap_kib = static_cast<long>(mallinfo2().uordblks / 1024);
  f.files = entries_of_folder("/proc/self/fd") - 1; // without the folder that it reads
  f.threads = entries_of_folder("/proc/self/task");
  std::printf("%s: resident %ld KiB, heap %ld KiB, maps %ld, files %ld, threads %ld\n", what,
              f.resident_kib, f.heap_kib, f.maps, f.files, f.threads);
  std::fflush(stdout);
  return f;
}

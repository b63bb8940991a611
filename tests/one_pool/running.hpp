// SPDX-License-Identifier: Apache-2.0
// Looks at the threads of this process: how many there are, and how many run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace one_pool {

/// Has the threads of one look. A thread that runs or waits for a processor counts as running.
struct look {
  int weft_running = 0;  ///< workers and spares
  int other_running = 0; ///< the first thread, and those that the program has made
  int others = 0;        ///< all that are not Weft's, without the first and the looking one
};

inline look look_at_threads() {
  look found;
  DIR *const folder = opendir("/proc/self/task");
  if (!folder)
    return found;
  const int self = static_cast<int>(syscall(SYS_gettid)), first = getpid();
  while (const dirent *const entry = readdir(folder)) {
    const int tid = std::atoi(entry->d_name);
    if (tid == 0 || tid == self)
      continue;
    char line[200] = "";
    if (std::FILE *const f =
            std::fopen(("/proc/self/task/" + std::string(entry->d_name) + "/stat").c_str(), "r")) {
      if (!std::fgets(line, sizeof line, f))
        line[0] = '\0';
      std::fclose(f);
    }
    const char *const name = std::strchr(line, '('), *const state = std::strrchr(line, ')');
    if (!name || !state)
      continue; // it has ended
    const bool runs = state[2] == 'R';
    if (std::strncmp(name, "(weft-", 6) != 0) {
      found.other_running += runs;
      found.others += tid != first;
    } else if (std::strncmp(name, "(weft-w", 7) == 0 || std::strncmp(name, "(weft-s", 7) == 0) {
      if (std::strncmp(name, "(weft-watcher", 13) != 0)
        found.weft_running += runs;
    }
  }
  closedir(folder);
  return found;
}

/// Looks at the threads about every millisecond, on a thread of its own.
class sampler {
 public:
  sampler() : m_thread([this] { run(); }) {}
  sampler(const sampler &) = delete;
  sampler &operator=(const sampler &) = delete;
  ~sampler() {
    m_ends = true;
    if (m_thread.joinable())
      m_thread.join();
  }
  const std::vector<look> &stop() {
    m_ends = true;
    m_thread.join();
    return m_looks;
  }

 private:
  void run() {
    while (!m_ends) {
      m_looks.push_back(look_at_threads());
      usleep(1000);
    }
  }
  std::atomic<bool> m_ends{false};
  std::vector<look> m_looks;
  std::thread m_thread;
};

/// Returns the value that a share of the looks does not exceed.
template <class F>
int quantile(const std::vector<look> &looks, double share, F value) {
  std::vector<int> values;
  for (const look &l : looks)
    values.push_back(value(l));
  std::sort(values.begin(), values.end());
  return values.empty()
             ? 0
             : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

} // namespace one_pool

// SPDX-License-Identifier: Apache-2.0
// When a process has hung: not after a time by the clock alone, for on a busy machine that may be little for the process.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <map>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace test {

/// Seconds of processor time that a process and those that it has started have used.
inline double tree_cpu_seconds(pid_t root) {
  std::map<pid_t, std::pair<pid_t, double>>
      all; // its parent, and what it has used with the children that it has waited for
  DIR *const proc = opendir("/proc");
  while (const dirent *e = proc ? readdir(proc) : nullptr) {
    const auto pid = static_cast<pid_t>(std::atoi(e->d_name));
    std::FILE *const file =
        pid > 0 ? std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r") : nullptr;
    if (!file)
      continue;
    int parent = 0;
    long long used[4] = {};
    if (std::fscanf(file,
                    "%*d (%*[^)]) %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld",
                    &parent, &used[0], &used[1], &used[2], &used[3]) == 5)
      all[pid] = {parent, static_cast<double>(used[0] + used[1] + used[2] + used[3]) /
                              static_cast<double>(sysconf(_SC_CLK_TCK))};
    std::fclose(file);
  }
  if (proc)
    closedir(proc);
  double sum = 0;
  for (const auto &[pid, of] : all) {
    pid_t at = pid;
    for (int up = 0; at != root && up != 32 && all.count(at) != 0; ++up)
      at = all[at].first;
    sum += at == root ? of.second : 0;
  }
  return sum;
}

/// Tells a waiter, which asks now and then, when the process that it waits for has hung. A process
/// has hung if it takes longer than `limit`, and has either used that much processor time, or makes
/// no progress: it uses no more than a hundredth of a processor for ten seconds.
class patience {
 public:
  patience(pid_t of, std::chrono::seconds limit)
      : m_of(of), m_limit(limit), m_until(clock::now() + limit) {}
  [[nodiscard]] bool is_over() {
    if (clock::now() < m_until)
      return false;
    const double used = tree_cpu_seconds(m_of);
    if (used >= static_cast<double>(m_limit.count()) || (m_seen >= 0 && used - m_seen < k_still))
      return true;
    m_seen = used;
    m_until = clock::now() + std::chrono::seconds(10);
    return false;
  }
  /// Of the next question that may be answered with yes.
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(m_until - clock::now()),
                    std::chrono::milliseconds(1));
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr double k_still = 0.1;
  pid_t m_of;
  std::chrono::seconds m_limit;
  clock::time_point m_until;
  double m_seen = -1; // processor time at the last question
};

} // namespace test

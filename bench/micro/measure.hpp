// SPDX-License-Identifier: Apache-2.0
// Runs interleaved rounds of several variants; prints the median and the least of each, in
// nanoseconds of CPU time per operation.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace bench {

inline double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Keeps a value, and what it was computed from, from being optimised away.
template <class T>
inline void keep(T const &value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

class table {
 public:
  /// Adds a variant; `run(n)` does n operations.
  template <class Run>
  void add(std::string name, long operations, Run run) {
    m_rows.push_back({std::move(name),
                      operations,
                      +[](void *r, long n) { (*static_cast<Run *>(r))(n); },
                      new Run(std::move(run)),
                      {}});
  }

  void print(int rounds) {
    for (int i = -1; i < rounds; ++i)
      for (row &r : m_rows) {
        const double from = cpu_ns();
        r.run(r.state, r.operations);
        if (i >= 0) // the first round warms up
          r.samples.push_back((cpu_ns() - from) / static_cast<double>(r.operations));
      }
    std::printf("%-62s %9s %9s\n", "ns per operation", "median", "least");
    for (row &r : m_rows) {
      std::sort(r.samples.begin(), r.samples.end());
      std::printf("%-62s %9.2f %9.2f\n", r.name.c_str(), r.samples[r.samples.size() / 2],
                  r.samples.front());
    }
  }

 private:
  struct row {
    std::string name;
    long operations;
    void (*run)(void *state, long n);
    void *state; // lives as long as the program
    std::vector<double> samples;
  };
  std::vector<row> m_rows;
};

} // namespace bench

// SPDX-License-Identifier: Apache-2.0
// Tasks that the memory limits: what each takes of time and of energy, and how many workers are kept
// (tune.workers).
#include "phases.hpp"

#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace adapt {

namespace {

constexpr std::size_t k_tasks = 64; // between two waits: no two of them have a number in common
constexpr std::size_t k_numbers = k_tasks * k_most_triad; // of a vector: 32 MiB

struct totals {
  double ns = 0, tasks = 0, energy = 0;
};

totals read_totals(std::chrono::steady_clock::time_point begin) {
  const auto seen = weft::counters::take();
  return {static_cast<double>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()),
          seen.value("/threads/count/cumulative"), seen.value("/power/estimate")};
}

} // namespace

void run_triad(std::size_t numbers, std::chrono::nanoseconds length) {
  std::vector<double> a(k_numbers), b(k_numbers, 1), c(k_numbers, 2);
  numbers = std::min(numbers, k_most_triad);
  const auto begin = std::chrono::steady_clock::now();
  totals half{};
  for (std::size_t at = 0; std::chrono::steady_clock::now() - begin < length;) {
    if (half.tasks == 0 && std::chrono::steady_clock::now() - begin >= length / 2)
      half = read_totals(begin); // a search is over by now
    for (std::size_t i = 0; i < k_tasks; ++i) {
      weft::spawn([&a, &b, &c, at, numbers] {
        for (std::size_t k = at; k < at + numbers; ++k)
          a[k] = b[k] + 3 * c[k];
      });
      at = at + 2 * numbers <= k_numbers ? at + numbers : 0;
    }
    weft::taskwait();
  }
  const totals all = read_totals(begin);
  if (std::abs(a.front() - 7) > 0) {
    std::fprintf(stderr, "wrong: the first number of the triad is %g, and not 7\n", a.front());
    std::exit(1);
  }
  const double tasks = std::max(all.tasks - half.tasks, 1.0);
  std::printf("ns %.0f\nmicrojoules %.2f\ntasks %.0f\nworkers %s\n", (all.ns - half.ns) / tasks,
              (all.energy - half.energy) / tasks, all.tasks, weft::tune::get("sched.workers").c_str());
  for (const std::string &decision : weft::tune::decisions())
    std::printf("%s\n", decision.c_str());
}

} // namespace adapt

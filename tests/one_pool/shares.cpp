// SPDX-License-Identifier: Apache-2.0
// one_pool_shares: each runtime's time on the workers is counted as that runtime's.
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include <weft/counters.hpp>

#define PART(stem) extern "C" const one_pool::part one_pool_##stem;
#include "parts.inc"
#undef PART

namespace {

using one_pool::check;
using one_pool::part;

const std::map<std::string, std::string> k_counters{{"gcc_openmp", "/runtimes/time/openmp"},
                                                    {"clang_openmp", "/runtimes/time/openmp"},
                                                    {"tbb", "/runtimes/time/tbb"},
                                                    {"glt", "/runtimes/time/glt"}};

double time_of(const std::string &stem) {
  return weft::counters::take().value(k_counters.at(stem));
}

void compute() {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
       std::chrono::steady_clock::now() < end;)
    asm volatile("");
}

/// Runs the part until the workers' time for it grows, and at most for a minute or so.
void check_part(const std::string &stem, const part &p) {
  if (!k_counters.contains(stem))
    return; // tasks are what the others leave; a pool has threads of its own
  const double before = time_of(stem);
  std::atomic<bool> seen{false}, may_end{false};
  std::thread reader([&] { // a snapshot samples the workers
    while (!seen && !may_end) {
      seen = time_of(stem) > before;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  auto leaf = [](int) {
    compute();
    return false;
  };
  for (int round = 0; round < 2000 && !seen; ++round)
    p.loop(16, one_pool::body(leaf));
  may_end = true;
  reader.join();
  check(seen, stem + " has a share of the workers");
}

} // namespace

int main() {
  const std::map<std::string, const part *> parts{
#define PART(stem) {#stem, &one_pool_##stem},
#include "parts.inc"
#undef PART
  };
  for (const auto &[stem, p] : parts)
    if (p->begin)
      p->begin(4);
  for (const auto &[stem, p] : parts)
    check_part(stem, *p);
  for (const auto &[stem, p] : parts)
    if (p->end)
      p->end();
  std::puts("shares: ok");
}

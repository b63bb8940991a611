// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

#include "../backends/threads.hpp"

#include <thread>

/// Lets each thread sum its part of the blocks, and adds up the sums at the end.
void dot::run_tasks() {
  const long threads = app::backend::threads();
  std::vector<double> sums(static_cast<std::size_t>(threads));
  const auto work = [&](long t) {
    double sum = 0;
    for (long b = t * blocks() / threads; b < (t + 1) * blocks() / threads; ++b)
      sum += multiply(b);
    sums[static_cast<std::size_t>(t)] = sum;
  };
  std::vector<std::thread> others;
  for (long t = 1; t < threads; ++t)
    others.emplace_back(work, t);
  work(0);
  for (std::thread &t : others)
    t.join();
  for (const double sum : sums)
    m_sum += sum;
}

// SPDX-License-Identifier: Apache-2.0
// Step by step with parallel algorithms: readings of a sensor (docs/user/algorithms.md).
#include <weft/algorithm.hpp>
#include <weft/future.hpp>
#include <weft/numeric.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>

int main() {
  namespace execution = weft::execution;

  // 1. A loop over elements becomes a call; `par` says that the calls may run at once.
  std::vector<double> readings(50'000);
  weft::for_loop(execution::par, std::size_t{0}, readings.size(),
                 [&](std::size_t i) { readings[i] = static_cast<double>(i % 100); });

  // 2. Other steps have names of their own.
  weft::transform(execution::par, readings, readings.begin(), [](double r) { return r / 2; });
  const auto broken =
      weft::count_if(execution::par, readings, [](double r) { return !std::isfinite(r); });

  // 3. A sum must not be added to by all: a reduction gives each worker one of its own.
  const double sum = weft::reduce(execution::par, readings, 0.0);
  double most = 0;
  weft::for_loop(execution::par, std::size_t{0}, readings.size(),
                 weft::reduction_max(most), [&](std::size_t i, double &mine) {
                   if (readings[i] > mine)
                     mine = readings[i];
                 });

  // 4. Beside the caller: a future of the result.
  weft::future<void> sorted = weft::sort(execution::par(execution::task), readings);
  const double mean = sum / 50'000; // meanwhile; the readings are the task's
  sorted.get();

  // 5. An exception ends the algorithm, and comes to the caller.
  bool refused = false;
  try {
    weft::for_each(execution::par, readings, [](double r) {
      if (r > 49)
        throw std::range_error("too hot");
    });
  } catch (const std::range_error &) {
    refused = true;
  }

  const bool right = broken == 0 && mean == 24.75 && most == 49.5 && readings.back() == 49.5 &&
                     readings.front() == 0 && refused;
  std::printf("mean %.2f, most %.1f: %s\n", mean, most, right ? "right" : "wrong");
  return right ? 0 : 1;
}

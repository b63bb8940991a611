// SPDX-License-Identifier: Apache-2.0
// A program that finds the size of its blocks while it runs (with WEFT_TUNE=on), and a policy that
// looks at a counter.
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

/// Lets heat flow on a ring, in one task per block.
void step(const std::vector<double> &now, std::vector<double> &next, std::size_t block) {
  const std::size_t n = now.size();
  for (std::size_t first = 0; first < n; first += block)
    weft::spawn([&, first] {
      for (std::size_t i = first; i < std::min(first + block, n); ++i)
        next[i] = now[i] + 0.25 * (now[(i + n - 1) % n] - 2 * now[i] + now[(i + 1) % n]);
    });
  weft::taskwait();
}

} // namespace

int main() {
  std::vector<double> now(20'000, 0.0), next(now);
  now[0] = 1;
  weft::tune::policy watch("queue", weft::tune::when::above("/threadqueue/length", 10'000),
                           [](const weft::tune::policy_call &call) { call.set("spin.us", "0"); });
  weft::tune::knob block("heat.block", 100,
                         weft::tune::range{16, 16'384, weft::tune::steps::logarithmic});
  weft::tune::session tuned(block);
  for (int i = 0; i < 400; ++i) {
    weft::tune::trial one(tuned, static_cast<double>(now.size())); // so many units of work
    step(now, next, static_cast<std::size_t>(block.value()));
    now.swap(next);
  }
  double sum = 0;
  for (const double x : now)
    sum += x;
  std::printf("heat %.6f, blocks of %lld after %zu trials\n", sum,
              static_cast<long long>(block.value()), tuned.trials());
  for (const auto &decision : weft::tune::decisions())
    std::printf("%s\n", decision.c_str());
  return sum > 0.999 && sum < 1.001 ? 0 : 1;
}

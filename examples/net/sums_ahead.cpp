// SPDX-License-Identifier: Apache-2.0
// Ranks that add up over all of them: the sum of a step is under way while they compute the next one.
//   weft launch -n 2 ./sums_ahead
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

namespace net = weft::net;

constexpr std::size_t k_steps = 10;

/// Returns the part of a rank in a step.
long part_of(int rank, std::size_t step) {
  std::vector<long> cells(1000, rank + static_cast<long>(step));
  return std::accumulate(cells.begin(), cells.end(), 0L);
}

int main() {
  bool is_right = false;
  net::run_ranks([&](net::team &team) {
    std::vector<long> sums(k_steps); // of each step, over all ranks
    std::vector<weft::future<void>> under_way;
    for (std::size_t step = 0; step != k_steps; ++step) {
      sums[step] = part_of(team.rank(), step);
      under_way.push_back(team.async_allreduce(std::span(&sums[step], 1)));
    }
    for (auto &one : under_way)
      one.get();

    const long ranks = team.size(), last = static_cast<long>(k_steps) - 1;
    if (team.rank() == 0)
      std::printf("the sum of the last step is %ld\n", sums.back());
    is_right = sums.back() == 1000 * (ranks * (ranks - 1) / 2 + ranks * last);
  });
  return is_right ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A program of ranks, tried on a network that holds operations back and lets them overtake each other.
#include <weft/net.hpp>

#include <cstdio>
#include <span>

namespace net = weft::net;

int main() {
  int right = 0;
  const auto program = [&](net::team &team) {
    auto cell = team.allocate<int>(1);
    if (team.rank() != 0) {
      const int value = 10 * team.rank();
      team.async_put_notify(cell.on(team.rank() - 1), std::span(&value, 1), 1).get();
    }
    if (team.rank() != team.size() - 1) {
      team.wait_notified(1);
      if (cell.local()[0] != 10 * (team.rank() + 1))
        return;
    }
    const int all = team.allreduce(1);
    if (team.rank() == 0)
      right += all;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    net::inproc_options faults;
    faults.delay = 5;
    faults.reorder = true;
    faults.seed = seed;
    net::run_ranks(net::inproc_world(4, faults), program);
  }
  std::printf("%d of 80 ranks have got their value\n", right);
  return right == 80 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Ranks in a ring: each sends an array to the next one, whose tasks work on it when it is there.
//   weft launch -n 2 ./first_ranks
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

namespace net = weft::net;

constexpr std::uint32_t k_arrived = 1; // a notification that all ranks agree on

int main() {
  bool is_right = false;
  net::run_ranks([&](net::team &team) {
    auto inbox = team.allocate<long>(1000);
    const int next = (team.rank() + 1) % team.size();

    std::vector<long> mine(1000);
    weft::spawn([&] { std::iota(mine.begin(), mine.end(), 1000L * team.rank()); },
                weft::out(weft::region(mine)));
    weft::spawn([&] { team.put_notify(inbox.on(next), mine, k_arrived); },
                weft::in(weft::region(mine)));

    const std::span<long> theirs = inbox.local();
    long sum = 0;
    weft::spawn([&] { team.expect(k_arrived); }, weft::out(weft::region(theirs)));
    weft::spawn([&] { sum = std::accumulate(theirs.begin(), theirs.end(), 0L); },
                weft::in(weft::region(theirs)), weft::out(sum));
    weft::taskwait();

    const long all = team.allreduce(sum);
    if (team.rank() == 0)
      std::printf("the sum over %d ranks is %ld\n", team.size(), all);
    const long count = 1000L * team.size();
    is_right = all == count * (count - 1) / 2;
  });
  return is_right ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
#include <weft/net.hpp>
#include <weft/version.hpp>

#include <atomic>
#include <cstdio>

int main() {
  std::atomic<int> sum{0};
  weft::net::run_ranks(3, [&](weft::net::team &team) { sum += team.allreduce(team.rank()); });
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, sum + 33);
  return sum == 9 ? 0 : 1;
}

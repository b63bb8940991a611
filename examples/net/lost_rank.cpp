// SPDX-License-Identifier: Apache-2.0
// A rank is lost; the others learn which one, and what therefore cannot end.
#include <weft/net.hpp>

#include <cstdio>

namespace net = weft::net;

int main() {
  const net::inproc_world world(3);
  int named = 0;
  net::run_ranks(world, [&](net::team &team) {
    if (team.rank() == 2)
      return world.lose(2); // a test of what the others do
    try {
      team.barrier();
    } catch (const net::lost_rank &e) {
      if (team.rank() == 0) {
        std::printf("%s\n", e.what());
        named = e.rank();
      }
    }
  });
  return named == 2 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A program that is built without Weft and loads a task-aware library. It needs libweft-alpi.so in
// LD_PRELOAD.
#include "load_probe.hpp"

#include <unistd.h>

namespace {

int nothing_is_done(int, void **, int *) { return 0; }

} // namespace

int main() {
  const probe_library *p = load_probe();
  if (!p || !p->start(&nothing_is_done, 20'000, false))
    return 1;
  int blocks = 0, events = 0, rounds = 0;
  for (int patience = 0; rounds < 3 && patience != 60'000; ++patience) {
    usleep(1000);
    p->counts(&blocks, &events, &rounds);
  }
  if (!p->stop())
    return 1;
  std::printf("the library has polled %s\n", rounds >= 3 ? "from a task of Weft" : "too seldom");
  return rounds >= 3 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// What a section of a program has cost, and a counter of its own.
#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <cstdio>

namespace {

weft::counters::counter hits("/app/hits", "what the example counts");

} // namespace

int main() {
  const auto before = weft::counters::take();
  weft::task_group group;
  for (int i = 0; i < 1000; ++i)
    group.spawn([] { ++hits; });
  group.wait();
  const auto spent = weft::counters::take() - before;
  std::printf("%g tasks, %g %% of the time not in them\n", spent.value("/threads/count/cumulative"), spent.value("/threads/idle-rate"));
  return spent.value("/app/hits") == 1000 && spent.value("/threads/count/cumulative") == 1000 ? 0 : 1;
}

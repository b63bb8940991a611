// SPDX-License-Identifier: Apache-2.0
// Promise: from the second iteration on a taskiter spawns nothing, calls its function no more, and takes no memory.
#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <malloc.h>
#include <vector>

namespace {

struct picture {
  std::uint64_t spawned;
  std::size_t heap; // of malloc, in use
};

picture take_picture() {
  return {weft::stats().spawned, mallinfo2().uordblks + mallinfo2().hblkhd};
}

TEST(taskiter, builds_its_graph_once) {
  constexpr int cells = 20, iterations = 200;
  int recordings = 0, iteration = 0;
  long x[cells + 2] = {};
  std::vector<picture> pictures;
  pictures.reserve(iterations);
  weft::taskiter(iterations, [&] {
    ++recordings;
    for (int i = 1; i <= cells; ++i)
      weft::spawn([&x, i] { x[i] += x[i - 1] + x[i + 1] + 1; }, weft::in(x[i - 1]),
                  weft::inout(x[i]), weft::in(x[i + 1]));
    std::vector<weft::access> all;
    for (long &v : x)
      all.push_back(weft::inout(v));
    weft::spawn(
        [&] {
          for (long &v : x)
            v %= 1000;
          pictures.push_back(take_picture());
          ++iteration;
        },
        weft::accesses(all));
  });
  weft::taskwait();
  EXPECT_EQ(recordings, 1);
  ASSERT_EQ(iteration, iterations);
  EXPECT_EQ(pictures.back().spawned, pictures.front().spawned);
  // The queues of the policies grow and shrink; one small block kept per run of a task would be twice as much.
  const auto growth =
      static_cast<long>(pictures.back().heap) - static_cast<long>(pictures[iterations / 2].heap);
  EXPECT_LT(growth, 16'000);
}

} // namespace

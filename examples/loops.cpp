// SPDX-License-Identifier: Apache-2.0
// The same loop as many tasks, and as one task that idle workers share.
#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

int main() {
  const int n = 10'000, block = 500;
  std::vector<double> x(n), y(n);

  // Many tasks. The loop waits for them.
  weft::taskloop(weft::range(n), [&](int i) { x[i] = i; });

  // A chunk's task names its data, so the loops below follow block by block, without a barrier.
  weft::taskloop(
      weft::range(n), [&](int i) { y[i] = 2 * x[i]; }, weft::grain_size(block), weft::nogroup,
      weft::chunk_accesses([&](weft::range<int> c) { return std::array{weft::in(x[c.first()]), weft::out(y[c.first()])}; }));
  weft::taskloop(
      weft::range(n),
      [&](weft::range<int> chunk) {
        for (int i : chunk)
          y[i] += 1;
      },
      weft::grain_size(block), weft::nogroup,
      weft::chunk_accesses([&](weft::range<int> c) { return weft::inout(y[c.first()]); }));
  weft::taskwait();

  // One task: its accesses are held once, and workers with nothing else to do take chunks of it.
  weft::taskfor(weft::range(n), [&](int i) { y[i] -= 1; }, weft::inout(weft::region(y)), weft::label("shared"));
  double largest = 0;
  weft::spawn([&] { largest = *std::max_element(y.begin(), y.end()); }, weft::in(weft::region(y)));
  weft::taskwait();

  // A task for each block of a rectangle.
  std::array<std::array<int, 80>, 60> cells{};
  weft::taskloop(weft::blocks(weft::range(60), 16, weft::range(80), 16), [&](weft::range<int> rows, weft::range<int> columns) {
    for (int i : rows)
      for (int j : columns)
        cells[i][j] = i * j;
  });

  std::printf("the largest is %.0f, the last cell %d\n", largest, cells[59][79]);
  return largest == 2.0 * (n - 1) && cells[59][79] == 59 * 79 ? 0 : 1;
}

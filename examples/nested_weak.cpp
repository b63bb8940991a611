// SPDX-License-Identifier: Apache-2.0
// Weak accesses: the outer tasks start at once and only create; their children keep the order.
#include <weft/weft.hpp>

#include <array>
#include <cstdio>

using table = std::array<int, 8>;

static void fill(table &t) {
  for (int &cell : t)
    weft::spawn([&cell] { cell = 1; }, weft::out(cell));
}
static void add(table &t, int n) {
  for (int &cell : t)
    weft::spawn([&cell, n] { cell += n; }, weft::inout(cell));
}

int main() {
  table t{};
  // Without "weak", all cells would have to be filled before add() may even be called. A child finds what
  // came before it only when the task around it names the data, so each cell is listed.
  std::array<weft::access, 8> cells;
  for (std::size_t i = 0; i < t.size(); ++i)
    cells[i] = weft::weak_inout(t[i]);
  weft::spawn([&] { fill(t); }, weft::accesses(cells), weft::label("fill"));
  weft::spawn([&] { add(t, 10); }, weft::accesses(cells), weft::label("add 10"));
  weft::spawn([&] { add(t, 100); }, weft::accesses(cells), weft::label("add 100"));
  weft::taskwait();

  int sum = 0;
  for (int cell : t)
    sum += cell;
  std::printf("the sum of the table is %d\n", sum);
  return sum == 8 * 111 ? 0 : 1;
}

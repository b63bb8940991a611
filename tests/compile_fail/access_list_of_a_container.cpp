// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <vector>

void f(std::vector<std::vector<int>> &rows) {
  std::vector<weft::access> all;
  for (auto &row : rows)
    all.push_back(weft::inout(row)); // the row, or its elements?
  weft::spawn([] {}, weft::accesses(all));
}

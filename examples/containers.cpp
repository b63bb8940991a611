// SPDX-License-Identifier: Apache-2.0
// A container, and its elements: two things with two addresses, so an access says which one it means.
#include <weft/weft.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  std::vector<int> v;
  std::size_t grown = 0;
  int sum = 0;
  weft::spawn([&] { v = {1, 2, 3}; }, weft::out(weft::object(v)));
  weft::spawn([&] { v.push_back(4); }, weft::inout(weft::object(v)));
  weft::spawn([&] { grown = v.size(); }, weft::in(weft::object(v)));
  weft::taskwait(); // from here on the elements stay where they are

  weft::spawn([&] { v[0] = 10; }, weft::out(v[0]));
  weft::spawn([&] { v[3] = 40; }, weft::out(v[3])); // beside the first one
  weft::spawn([&] { sum = std::accumulate(v.begin(), v.end(), 0); }, weft::in(weft::region(v))); // after both
  weft::taskwait();

  std::printf("%zu elements, sum %d\n", grown, sum);
  return grown == 4 && sum == 55 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A number of accesses known only at run time: a task that reads every part, and waiting for one of them.
#include <weft/weft.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  std::vector<int> parts(20);
  for (int i = 0; i < 20; ++i)
    weft::spawn([&, i] { parts[i] = i; }, weft::out(parts[i]));

  std::vector<weft::access> all;
  for (const int &part : parts)
    all.push_back(weft::in(part));
  int sum = 0;
  weft::spawn([&] { sum = std::accumulate(parts.begin(), parts.end(), 0); }, weft::accesses(all),
              weft::out(sum));

  weft::taskwait(weft::in(parts[3])); // the others may still be running
  const int third = parts[3];

  weft::taskwait(weft::in(sum));
  std::printf("part 3 is %d, the sum is %d\n", third, sum);
  const bool right = third == 3 && sum == 190;
  weft::taskwait(); // parts must outlive the tasks
  return right ? 0 : 1;
}

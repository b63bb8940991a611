// SPDX-License-Identifier: Apache-2.0
// A program of std::execution that weft::pstl runs on Weft; prints what was asked of every consumer.
#include <execution>
#include <numeric>
#include <vector>

#include <weft/version.hpp>

#include <cstdio>

int main() {
  const std::vector<int> v(42'000, 1);
  const int sum = std::reduce(std::execution::par, v.begin(), v.end()) / 1000;
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, sum);
#ifndef WEFT_PSTL
  return 1;
#else
  return sum == 42 ? 0 : 1;
#endif
}

// SPDX-License-Identifier: Apache-2.0
// Runs the ten programs, and compares what they compute.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

inline int check(int (*call)(), long (*fib)(int), void (*loop)(std::vector<double> &),
                 double (*dot)(const std::vector<double> &, const std::vector<double> &),
                 void (*sort)(std::vector<int> &), std::string (*chain)(), int (*all)(),
                 int (*graph)(), long (*pipeline)(), bool (*error)()) {
  std::vector<double> v(1000, 1), w(1000, 2);
  loop(v);
  std::vector<int> numbers;
  for (int i = 0; i < 1000; ++i)
    numbers.push_back(i * 7919 % 1000);
  sort(numbers);
  const bool right = call() == 42 && fib(15) == 610 && v[999] == 3 && dot(v, w) == 6000 &&
                     std::is_sorted(numbers.begin(), numbers.end()) && chain() == "42" &&
                     all() == 285 && graph() == 3 && pipeline() == 4950 && error();
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}

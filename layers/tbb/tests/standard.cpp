// SPDX-License-Identifier: Apache-2.0
// The C++ library's parallel algorithms, which are compiled against TBB.
#include "door.hpp"

#include <algorithm>
#include <cstdint>
#include <execution>
#include <numeric>
#include <vector>

#include <tbb/global_control.h>

int main() {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(door::threads_asked()));
  std::vector<std::uint32_t> numbers(300'000);
  std::uint32_t x = 1;
  for (auto &e : numbers)
    e = x = x * 1664525u + 1013904223u;
  auto sorted = numbers, expected = numbers;
  std::sort(expected.begin(), expected.end());
  std::sort(std::execution::par, sorted.begin(), sorted.end());
  CHECK(sorted == expected);
  const auto sum = [](auto policy, const auto &v) {
    return std::transform_reduce(policy, v.begin(), v.end(), std::uint64_t{0}, std::plus<>(),
                                 [](std::uint32_t e) { return std::uint64_t{e}; });
  };
  CHECK(sum(std::execution::par_unseq, numbers) == sum(std::execution::seq, numbers));
  std::vector<std::uint32_t> doubled(numbers.size());
  std::transform(std::execution::par, numbers.begin(), numbers.end(), doubled.begin(),
                 [](std::uint32_t e) { return 2 * e; });
  for (std::size_t i = 0; i < numbers.size(); ++i)
    CHECK(doubled[i] == 2 * numbers[i]);
  CHECK(std::count_if(std::execution::par, numbers.begin(), numbers.end(),
                      [](std::uint32_t e) { return e % 3 == 0; }) ==
        std::count_if(numbers.begin(), numbers.end(), [](std::uint32_t e) { return e % 3 == 0; }));
  door::check_threads();
  std::puts("standard: ok");
}

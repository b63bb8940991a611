// SPDX-License-Identifier: Apache-2.0
// A loop reads the size of its blocks from a knob, and something else changes it meanwhile.
#include <weft/knob.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

weft::tune::knob tile("sum.tile", 64, weft::tune::range{16, 1024, weft::tune::steps::logarithmic},
                      weft::tune::takes_hold::next_call, "numbers that a task adds");

/// Adds the numbers in tasks of as many as the knob says.
long sum(const std::vector<int> &numbers) {
  const auto size = static_cast<std::size_t>(tile.value()); // one load
  std::vector<long> parts((numbers.size() + size - 1) / size);
  for (std::size_t i = 0; i < parts.size(); ++i)
    weft::spawn([&, i] {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(i * size);
      const std::size_t count = std::min(size, numbers.size() - i * size);
      parts[i] = std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), 0L);
    });
  weft::taskwait();
  return std::accumulate(parts.begin(), parts.end(), 0L);
}

} // namespace

int main() {
  std::vector<int> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const long before = sum(numbers);
  weft::tune::set("sum.tile", "256"); // as `weft set PID sum.tile=256` does
  weft::tune::set("sched.workers", "1");
  const long after = sum(numbers);
  std::printf("%ld, and in blocks of %s with %s worker: %ld\n", before,
              weft::tune::get("sum.tile").c_str(), weft::tune::get("sched.workers").c_str(), after);
  return before == after ? 0 : 1;
}

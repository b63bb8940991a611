// SPDX-License-Identifier: Apache-2.0
// TBB's loops, reductions, scans and sorts, each against the same work in series.
#include "door.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <tbb/blocked_range2d.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_vector.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

namespace {

std::vector<std::uint32_t> random_numbers(std::size_t n) {
  std::vector<std::uint32_t> v(n);
  std::uint32_t x = 12345;
  for (auto &e : v)
    e = x = x * 1664525u + 1013904223u;
  return v;
}

void loops() {
  std::vector<int> hits(100'000);
  tbb::parallel_for(std::size_t{0}, hits.size(), [&](std::size_t i) { ++hits[i]; });
  CHECK(std::all_of(hits.begin(), hits.end(), [](int n) { return n == 1; }));
  std::vector<int> table(300 * 200);
  tbb::parallel_for(
      tbb::blocked_range2d<int>(0, 300, 0, 200),
      [&](const tbb::blocked_range2d<int> &r) {
        for (int i = r.rows().begin(); i < r.rows().end(); ++i)
          for (int j = r.cols().begin(); j < r.cols().end(); ++j)
            table[static_cast<std::size_t>(i * 200 + j)] += i + j;
      },
      tbb::static_partitioner());
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 200; ++j)
      CHECK(table[static_cast<std::size_t>(i * 200 + j)] == i + j);
  std::atomic<long> nested{0};
  tbb::parallel_for(0, 50, [&](int i) {
    tbb::parallel_for(0, 50, [&](int j) { nested += i * j; }, tbb::simple_partitioner());
  });
  CHECK(nested == 1225L * 1225L);
}

void reductions() {
  const auto numbers = random_numbers(500'000);
  const auto serial = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  using range = tbb::blocked_range<std::size_t>;
  const auto body = [&](const range &r, std::uint64_t sum) {
    return std::accumulate(numbers.begin() + static_cast<std::ptrdiff_t>(r.begin()),
                           numbers.begin() + static_cast<std::ptrdiff_t>(r.end()), sum);
  };
  const range all(0, numbers.size());
  tbb::affinity_partitioner affinity;
  for (int round = 0; round < 5; ++round) {
    CHECK(tbb::parallel_reduce(all, std::uint64_t{0}, body, std::plus<>()) == serial);
    CHECK(tbb::parallel_reduce(all, std::uint64_t{0}, body, std::plus<>(), affinity) == serial);
    CHECK(tbb::parallel_deterministic_reduce(all, std::uint64_t{0}, body, std::plus<>()) == serial);
  }
  std::vector<std::uint64_t> prefix(numbers.size()), expected(numbers.size());
  std::partial_sum(numbers.begin(), numbers.end(), expected.begin(),
                   [](std::uint64_t a, std::uint64_t b) { return a + b; });
  tbb::parallel_scan(
      all, std::uint64_t{0},
      [&](const range &r, std::uint64_t sum, bool is_final) {
        for (std::size_t i = r.begin(); i < r.end(); ++i) {
          sum += numbers[i];
          if (is_final)
            prefix[i] = sum;
        }
        return sum;
      },
      std::plus<>());
  expected[0] = numbers[0];
  for (std::size_t i = 1; i < expected.size(); ++i)
    expected[i] = expected[i - 1] + numbers[i];
  CHECK(prefix == expected);
}

void sorts_and_containers() {
  auto numbers = random_numbers(300'000), expected = numbers;
  std::sort(expected.begin(), expected.end());
  tbb::parallel_sort(numbers.begin(), numbers.end());
  CHECK(numbers == expected);
  tbb::concurrent_vector<int> pushed;
  tbb::concurrent_hash_map<int, int> counted;
  tbb::parallel_for(0, 20'000, [&](int i) {
    pushed.push_back(i);
    tbb::concurrent_hash_map<int, int>::accessor at;
    counted.insert(at, i % 97);
    ++at->second;
  });
  std::vector<int> sorted(pushed.begin(), pushed.end());
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 20'000; ++i)
    CHECK(sorted[static_cast<std::size_t>(i)] == i);
  int all = 0;
  for (const auto &[key, count] : counted)
    all += count;
  CHECK(all == 20'000 && counted.size() == 97);
  std::vector<int> fed{1};
  std::atomic<int> seen{0};
  tbb::parallel_for_each(fed.begin(), fed.end(), [&](int i, tbb::feeder<int> &more) {
    ++seen;
    if (i < 1000) {
      more.add(2 * i);
      more.add(2 * i + 1);
    }
  });
  CHECK(seen == 1999); // the nodes of a tree in which those below 1000 have two children
  int a = 0, b = 0, c = 0;
  tbb::parallel_invoke([&] { a = 1; }, [&] { b = 2; }, [&] { c = 3; });
  CHECK(a == 1 && b == 2 && c == 3);
}

} // namespace

int main() {
  const auto threads = static_cast<std::size_t>(door::threads_asked());
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([] {
    loops();
    reductions();
    sorts_and_containers();
  });
  if (threads > 1)
    door::check_threads();
  std::puts("algorithms: ok");
}

// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms: policies, ranges, reductions, scans, loops, exceptions.
#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

int main() {
  namespace execution = weft::execution;
  constexpr int n = 100'000;
  std::vector<int> x(n), y(n);

  // The names and arguments of the standard, with a policy in front; ranges, too.
  weft::for_each(execution::par, std::views::iota(0, n), [&](int i) { x[i] = i * 7919 % n; });
  weft::transform(execution::par, x, y.begin(), [](int v) { return 2 * v; });
  weft::sort(execution::par, x);

  // A reduction keeps the order of the elements: an operation need not commute.
  const long sum = weft::reduce(execution::par, y, 0L);

  // A loop with a sum of its own per worker, and a value that grows with each iteration.
  long odd = 0;
  weft::for_loop(execution::par, 0, n, weft::reduction_plus(odd), weft::induction(1, 2),
                 [&](int i, long &mine, int value) {
                   y[i] = value; // 1, 3, 5, ...
                   mine += value;
                 });

  // Blocks choose their sizes. A program that knows better gives a grain, or a block per worker.
  weft::for_each(execution::par.with(execution::grain(16)), y, [](int &v) { v += 1; });
  weft::fill(execution::par.with(execution::static_chunk), y, 1);
  weft::inclusive_scan(execution::par, y, y.begin());

  // Only these workers.
  weft::for_each(execution::par.on(weft::worker_set::of_workers({0})), y, [](int &v) { v -= 1; });

  // The algorithm runs beside the caller. Iterators and values are copied; y itself is not.
  auto zeros = weft::count(execution::par(execution::task), y, 0);
  const bool one_zero = zeros.get() == 1;

  // All exceptions, instead of the first.
  std::size_t failures = 0;
  try {
    weft::for_each(execution::par.with(execution::grain(1000))
                       .with(weft::exception_policy::collect_all),
                   y, [](int v) {
                     if (v % 10'000 == 0)
                       throw std::runtime_error("a round number");
                   });
  } catch (const weft::exception_list &all) {
    failures = all.size();
  }

  const bool right = std::is_sorted(x.begin(), x.end()) && sum == 1L * n * (n - 1) &&
                     odd == 1L * n * n && y[n - 1] == n - 1 && one_zero && failures == 10;
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}

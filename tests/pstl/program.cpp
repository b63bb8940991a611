// SPDX-License-Identifier: Apache-2.0
// A program of std::execution alone. The target weft::pstl makes Weft run its algorithms.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#ifndef WEFT_PSTL
#error "weft/pstl.hpp was not included"
#endif
#ifdef _PSTL_PAR_BACKEND_TBB
#error "the backend is TBB's"
#endif

namespace {

void check(bool right, const char *what) {
  if (right)
    return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

} // namespace

int main() {
  const std::size_t n = 300'000;
  std::vector<unsigned> v(n), sorted, out(n), expected(n);
  std::iota(v.begin(), v.end(), 0u);
  std::for_each(std::execution::par, v.begin(), v.end(),
                [](unsigned &i) { i = static_cast<unsigned>(i * 7919ul % 300'007); });
  sorted = v;
  std::sort(sorted.begin(), sorted.end());
  std::vector<unsigned> x = v;
  std::sort(std::execution::par, x.begin(), x.end());
  check(x == sorted, "sort");
  x = v;
  std::stable_sort(std::execution::par_unseq, x.begin(), x.end(), std::greater<>());
  check(std::equal(x.begin(), x.end(), sorted.rbegin()), "stable_sort");
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, n / 2, n}) {
    x = v;
    std::partial_sort(std::execution::par, x.begin(), x.begin() + k, x.end());
    check(std::equal(x.begin(), x.begin() + k, sorted.begin()), "partial_sort");
    std::sort(x.begin(), x.end());
    check(x == sorted, "partial_sort loses elements");
  }
  x = v;
  std::nth_element(std::execution::par, x.begin(), x.begin() + 777, x.end());
  check(x[777] == sorted[777], "nth_element");
  check(std::reduce(std::execution::par, v.begin(), v.end(), 0ul) ==
            std::accumulate(v.begin(), v.end(), 0ul),
        "reduce");
  std::inclusive_scan(std::execution::par, v.begin(), v.end(), out.begin());
  std::partial_sum(v.begin(), v.end(), expected.begin());
  check(out == expected, "inclusive_scan");
  const auto third = [](unsigned i) { return i % 3 == 0; };
  const auto end = std::copy_if(std::execution::par, v.begin(), v.end(), out.begin(), third);
  const auto expected_end = std::copy_if(v.begin(), v.end(), expected.begin(), third);
  check(std::equal(out.begin(), end, expected.begin(), expected_end), "copy_if");
  check(std::find(std::execution::par, sorted.begin(), sorted.end(), sorted[77'777]) ==
            sorted.begin() + 77'777,
        "find");

  // Several threads take part: each element takes a while, and a helper comes in time.
  std::mutex lock;
  std::set<std::thread::id> threads;
  const unsigned workers = std::getenv("WEFT_WORKERS") ? 2 : 1;
  for (int tries = 0; threads.size() < workers && tries < 100; ++tries)
    std::for_each(std::execution::par, v.begin(), v.begin() + 100, [&](unsigned) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      const std::lock_guard guard(lock);
      threads.insert(std::this_thread::get_id());
    });
  check(threads.size() >= workers, "one thread alone has run a loop of several");
  std::printf("right\n");
}

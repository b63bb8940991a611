// SPDX-License-Identifier: Apache-2.0
// Algorithms over n elements: the standard's in order, Weft's, and GCC's parallel ones on TBB where
// it is installed. Interleaved runs; prints the least time of each, after a first call.
//
// usage: weft-algorithms-sample [LARGEST_N] [RUNS]
#if __has_include(<tbb/tbb.h>) && defined(WEFT_BENCH_TBB)
#include <execution>
#define WEFT_HAS_TBB 1
#endif

#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

double ns_of(auto &&f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

struct times {
  double serial = 1e18, weft = 1e18, tbb = 1e18;
};

/// Runs each of the three in turn; prepare() comes before each, and is not timed.
template <class Prepare, class Serial, class Weft, class Tbb>
void row(const char *name, std::size_t n, int runs, Prepare prepare, Serial serial, Weft ours,
         Tbb tbb) {
  times least;
  const int calls = n < 10'000 ? 100 : 1;
  for (int i = 0; i < runs * calls + 2; ++i) { // the first calls warm up
    const bool counts = i >= 2;
    const auto keep = [&](double &best, auto &f) {
      prepare();
      const double ns = ns_of(f);
      if (counts)
        best = std::min(best, ns);
    };
    keep(least.serial, serial);
    keep(least.weft, ours);
    keep(least.tbb, tbb);
  }
  std::printf("%-10s %10zu %14.0f %14.0f %8.2f", name, n, least.serial, least.weft,
              least.weft / least.serial);
#ifdef WEFT_HAS_TBB
  std::printf(" %14.0f %8.2f", least.tbb, least.tbb / least.serial);
#endif
  std::printf("\n");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  const std::size_t largest = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 11;
  const auto par = weft::execution::par;
  std::printf("%-10s %10s %14s %14s %8s %14s %8s\n", "", "n", "serial ns", "weft ns", "ratio",
              "tbb ns", "ratio");
  for (std::size_t n = 100; n <= largest; n *= 10) {
    std::vector<double> x(n), y(n);
    std::vector<unsigned> u(n), v(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<double>(i % 97);
      u[i] = static_cast<unsigned>(i * 2654435761u);
    }
    const auto nothing = [] {};
    double sink = 0;
    const auto grow = [](double &d) { d = d * 0.5 + 1; };
    row(
        "for_each", n, runs, nothing, [&] { std::for_each(x.begin(), x.end(), grow); },
        [&] { weft::for_each(par, x.begin(), x.end(), grow); },
        [&] {
#ifdef WEFT_HAS_TBB
          std::for_each(std::execution::par, x.begin(), x.end(), grow);
#endif
        });
    row(
        "reduce", n, runs, nothing, [&] { sink += std::reduce(x.begin(), x.end()); },
        [&] { sink += weft::reduce(par, x.begin(), x.end()); },
        [&] {
#ifdef WEFT_HAS_TBB
          sink += std::reduce(std::execution::par, x.begin(), x.end());
#endif
        });
    row(
        "scan", n, runs, nothing, [&] { std::inclusive_scan(x.begin(), x.end(), y.begin()); },
        [&] { weft::inclusive_scan(par, x.begin(), x.end(), y.begin()); },
        [&] {
#ifdef WEFT_HAS_TBB
          std::inclusive_scan(std::execution::par, x.begin(), x.end(), y.begin());
#endif
        });
    row(
        "find", n, runs, nothing, [&] { sink += std::find(x.begin(), x.end(), -1.0) == x.end(); },
        [&] { sink += weft::find(par, x.begin(), x.end(), -1.0) == x.end(); },
        [&] {
#ifdef WEFT_HAS_TBB
          sink += std::find(std::execution::par, x.begin(), x.end(), -1.0) == x.end();
#endif
        });
    row(
        "sort", n, std::min(runs, 5), [&] { v = u; }, [&] { std::sort(v.begin(), v.end()); },
        [&] { weft::sort(par, v.begin(), v.end()); },
        [&] {
#ifdef WEFT_HAS_TBB
          std::sort(std::execution::par, v.begin(), v.end());
#endif
        });
    if (sink < 0)
      std::printf("\n");
  }
}

// SPDX-License-Identifier: Apache-2.0
// The samples of suite "algorithms", in the library that the build names:
//
//     <program> for_each|reduce|scan|find|sort WORKERS COUNT
//
// COUNT is the number of elements: doubles; sort takes random unsigned numbers. `ns` is the median time of
// a call per element. The first calls are not counted. A library that lacks an algorithm refuses it,
// with exit status 2.
#include "../peers/sample.hpp"
#include WEFT_MODEL_HEADER

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace {

constexpr double k_grown = 3.5;
constexpr std::size_t k_numbers = 1'000'000; // at least, from which `sort` takes its elements in turn

struct workload {
  std::function<void()> prepare, call;
  std::function<bool()> is_right;
};

/// Returns the median of the times of calls: many of short ones, three of long ones.
double median_ns(const workload &w) {
  constexpr int k_warm_ups = 2, k_least = 3, k_most = 999;
  std::vector<double> times;
  double spent = 0;
  for (int i = 0; i < k_warm_ups + k_most; ++i) {
    w.prepare();
    const double ns = sample::time_ns(w.call);
    if (i == 0)
      sample::require(w.is_right(), "of the first call");
    if (i < k_warm_ups)
      continue;
    times.push_back(ns);
    spent += ns;
    if (times.size() >= k_least && spent > 100e6)
      break;
  }
  w.prepare();
  w.call();
  sample::require(w.is_right(), "of the last call");
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

template <class Model>
void measure(const sample::request &r) {
  Model runtime(r.workers);
  const auto n = static_cast<std::size_t>(r.count);
  std::vector<double> x, y;
  std::vector<unsigned> random, sorted;
  double sum = 0;
  bool found = false;
  workload w{[] {}, {}, [] { return true; }};
  if (r.workload != "sort")
    x.assign(n, 1);
  if (r.workload == "for_each") {
    w.prepare = [&] { x[n - 1] = 5; };
    w.call = [&] { runtime.for_each(x, [](double &d) { d = d * 0.5 + 1; }); };
    w.is_right = [&] { return x[n - 1] == k_grown && x[0] > 1; };
  } else if (r.workload == "reduce") {
    w.call = [&] { sum = runtime.reduce(x); };
    w.is_right = [&] { return sum == static_cast<double>(n); };
  } else if (r.workload == "scan") {
    y.assign(n, 0);
    w.call = [&] { runtime.scan(x, y); };
    w.is_right = [&] { return y[0] == 1 && y[n - 1] == static_cast<double>(n); };
  } else if (r.workload == "find") { // the last element
    if constexpr (requires { runtime.find(x, 2.0); }) {
      x[n - 1] = 2;
      w.call = [&] { found = runtime.find(x, 2.0) == x.begin() + static_cast<long>(n - 1); };
      w.is_right = [&] { return found; };
    } else {
      sample::refuse(r);
    }
  } else if (r.workload == "sort") {
    // Each call gets other elements: a processor learns the branches of a hundred that come again.
    std::mt19937 numbers;
    random.resize(std::max(n, k_numbers));
    std::generate(random.begin(), random.end(), std::ref(numbers));
    w.prepare = [&, at = std::size_t{0}]() mutable {
      const auto first = random.begin() + static_cast<std::ptrdiff_t>(at);
      sorted.assign(first, first + static_cast<std::ptrdiff_t>(n));
      at = at + 2 * n <= random.size() ? at + n : 0;
    };
    w.call = [&] { runtime.sort(sorted); };
    w.is_right = [&] { return std::is_sorted(sorted.begin(), sorted.end()); };
  } else {
    sample::refuse(r);
  }
  sample::print("ns", median_ns(w) / static_cast<double>(n));
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  if (r.count < 1)
    sample::refuse(r);
  measure<model>(r);
}

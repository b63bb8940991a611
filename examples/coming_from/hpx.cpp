// SPDX-License-Identifier: Apache-2.0
// The ten programs of docs/user/coming_from.md in HPX's names.
#include "check.hpp"

#include <hpx/algorithm.hpp>
#include <hpx/channel.hpp>
#include <hpx/future.hpp>
#include <hpx/hpx_main.hpp>
#include <hpx/numeric.hpp>

#include <numeric>
#include <stdexcept>

namespace {

int call() {
  hpx::future<int> x = hpx::async([](int a) { return 2 * a; }, 21);
  return x.get();
}

long fib(int n) {
  if (n < 2)
    return n;
  hpx::future<long> x = hpx::async(fib, n - 1);
  const long y = fib(n - 2);
  return x.get() + y;
}

void loop(std::vector<double> &v) {
  hpx::for_each(hpx::execution::par, v.begin(), v.end(), [](double &x) { x = 2 * x + 1; });
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  return hpx::transform_reduce(hpx::execution::par, a.begin(), a.end(), b.begin(), 0.0);
}

void sort(std::vector<int> &v) { hpx::sort(hpx::execution::par, v.begin(), v.end()); }

std::string chain() {
  return hpx::async([] { return 6; })
      .then([](hpx::future<int> x) { return 7 * x.get(); })
      .then([](hpx::future<int> x) { return std::to_string(x.get()); })
      .get();
}

int all() {
  std::vector<hpx::future<int>> parts;
  for (int i = 0; i < 10; ++i)
    parts.push_back(hpx::async([i] { return i * i; }));
  int sum = 0;
  for (hpx::future<int> &part : hpx::when_all(std::move(parts)).get())
    sum += part.get();
  return sum;
}

int graph() {
  hpx::future<int> a = hpx::async([] { return 1; });
  hpx::future<int> b = hpx::async([] { return 2; });
  const auto plus = hpx::unwrapping([](int x, int y) { return x + y; });
  return hpx::dataflow(plus, std::move(a), std::move(b)).get();
}

long pipeline() {
  hpx::lcos::local::channel<int> numbers;
  hpx::future<void> producer = hpx::async([&] {
    for (int i = 0; i < 100; ++i)
      numbers.set(i);
  });
  long sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += numbers.get().get();
  producer.get();
  return sum;
}

bool error() {
  hpx::future<void> bad = hpx::async([] { throw std::runtime_error("in a task"); });
  hpx::future<void> good = hpx::async([] {});
  try {
    bad.get();
    good.get();
  } catch (const std::runtime_error &) {
    return true;
  }
  return false;
}

} // namespace

int main() { return check(call, fib, loop, dot, sort, chain, all, graph, pipeline, error); }

// SPDX-License-Identifier: Apache-2.0
// The ten programs of docs/user/coming_from.md in Weft.
#include "check.hpp"

#include <weft/algorithm.hpp>
#include <weft/future.hpp>
#include <weft/numeric.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int call() {
  weft::future<int> x = weft::async([](int a) { return 2 * a; }, 21);
  return x.get();
}

long fib(int n) {
  if (n < 2)
    return n;
  weft::future<long> x = weft::async(fib, n - 1);
  const long y = fib(n - 2);
  return x.get() + y;
}

void loop(std::vector<double> &v) {
  weft::for_each(weft::execution::par, v, [](double &x) { x = 2 * x + 1; });
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  return weft::transform_reduce(weft::execution::par, a, b, 0.0);
}

void sort(std::vector<int> &v) { weft::sort(weft::execution::par, v); }

std::string chain() {
  return weft::async([] { return 6; })
      .then([](int x) { return 7 * x; })
      .then([](int x) { return std::to_string(x); })
      .get();
}

int all() {
  std::vector<weft::future<int>> parts;
  for (int i = 0; i < 10; ++i)
    parts.push_back(weft::async([i] { return i * i; }));
  int sum = 0;
  for (weft::future<int> &part : weft::when_all(std::move(parts)).get())
    sum += part.get();
  return sum;
}

int graph() {
  int a = 0, b = 0, sum = 0;
  weft::spawn([&] { a = 1; }, weft::out(a));
  weft::spawn([&] { b = 2; }, weft::out(b));
  weft::spawn([&] { sum = a + b; }, weft::in(a), weft::in(b), weft::out(sum));
  weft::taskwait();
  return sum;
}

long pipeline() {
  weft::channel<int> numbers(4);
  weft::future<void> producer = weft::async([&] {
    for (int i = 0; i < 100; ++i)
      (void)numbers.push(i); // it is open
    numbers.close();
  });
  long sum = 0;
  while (std::optional<int> x = numbers.pop())
    sum += *x;
  producer.get();
  return sum;
}

bool error() {
  weft::task_group group;
  group.spawn([] { throw std::runtime_error("in a task"); });
  group.spawn([] {});
  try {
    group.wait();
  } catch (const std::runtime_error &) {
    return true;
  }
  return false;
}

} // namespace

int main() { return check(call, fib, loop, dot, sort, chain, all, graph, pipeline, error); }

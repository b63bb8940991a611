// SPDX-License-Identifier: Apache-2.0
// The ten programs of docs/user/coming_from.md in C++20's own library.
#include "check.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <execution>
#include <future>
#include <mutex>
#include <numeric>
#include <stdexcept>

namespace {

int call() {
  std::future<int> x = std::async(std::launch::async, [](int a) { return 2 * a; }, 21);
  return x.get();
}

long fib(int n) {
  if (n < 10) // a thread per call
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  std::future<long> x = std::async(std::launch::async, fib, n - 1);
  const long y = fib(n - 2);
  return x.get() + y;
}

void loop(std::vector<double> &v) {
  std::for_each(std::execution::par, v.begin(), v.end(), [](double &x) { x = 2 * x + 1; });
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  return std::transform_reduce(std::execution::par, a.begin(), a.end(), b.begin(), 0.0);
}

void sort(std::vector<int> &v) { std::sort(std::execution::par, v.begin(), v.end()); }

std::string chain() { // no then(): each link has a thread that waits
  auto x = std::async(std::launch::async, [] { return 6; });
  auto y = std::async(std::launch::async, [&] { return 7 * x.get(); });
  auto z = std::async(std::launch::async, [&] { return std::to_string(y.get()); });
  return z.get();
}

int all() {
  std::vector<std::future<int>> parts;
  for (int i = 0; i < 10; ++i)
    parts.push_back(std::async(std::launch::async, [i] { return i * i; }));
  int sum = 0;
  for (std::future<int> &part : parts)
    sum += part.get();
  return sum;
}

int graph() {
  auto a = std::async(std::launch::async, [] { return 1; });
  auto b = std::async(std::launch::async, [] { return 2; });
  return std::async(std::launch::async, [&] { return a.get() + b.get(); }).get();
}

long pipeline() {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> numbers;
  auto producer = std::async(std::launch::async, [&] {
    for (int i = 0; i <= 100; ++i) { // 100 ends it
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return numbers.size() < 4; });
      numbers.push_back(i);
      changed.notify_all();
    }
  });
  for (long sum = 0;;) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !numbers.empty(); });
    const int x = numbers.front();
    numbers.pop_front();
    changed.notify_all();
    if (x == 100)
      return sum;
    sum += x;
  }
}

bool error() {
  auto bad = std::async(std::launch::async, [] { throw std::runtime_error("in a thread"); });
  auto good = std::async(std::launch::async, [] {});
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

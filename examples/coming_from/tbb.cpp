// SPDX-License-Identifier: Apache-2.0
// The ten programs of docs/user/coming_from.md in oneTBB.
#include "check.hpp"

#include <functional>
#include <stdexcept>

#include <tbb/blocked_range.h>
#include <tbb/concurrent_queue.h>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_group.h>

namespace {

int call() {
  int x = 0;
  tbb::task_group group;
  group.run([&] { x = 2 * 21; });
  group.wait();
  return x;
}

long fib(int n) {
  if (n < 2)
    return n;
  long x = 0;
  tbb::task_group group;
  group.run([&x, n] { x = fib(n - 1); });
  const long y = fib(n - 2);
  group.wait();
  return x + y;
}

void loop(std::vector<double> &v) {
  tbb::parallel_for(std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = 2 * v[i] + 1; });
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, a.size()), 0.0,
      [&](const tbb::blocked_range<std::size_t> &r, double sum) {
        for (std::size_t i = r.begin(); i < r.end(); ++i)
          sum += a[i] * b[i];
        return sum;
      },
      std::plus<>());
}

void sort(std::vector<int> &v) { tbb::parallel_sort(v); }

std::string chain() {
  std::string text;
  tbb::flow::graph g;
  tbb::flow::function_node<int, int> times(g, 1, [](int x) { return 7 * x; });
  tbb::flow::function_node<int> print(g, 1, [&](int x) { text = std::to_string(x); });
  tbb::flow::make_edge(times, print);
  times.try_put(6);
  g.wait_for_all();
  return text;
}

int all() {
  std::vector<int> parts(10);
  tbb::task_group group;
  for (int i = 0; i < 10; ++i)
    group.run([&parts, i] { parts[static_cast<std::size_t>(i)] = i * i; });
  group.wait();
  int sum = 0;
  for (int part : parts)
    sum += part;
  return sum;
}

int graph() {
  int a = 0, b = 0, sum = 0;
  using message = tbb::flow::continue_msg;
  tbb::flow::graph g;
  tbb::flow::continue_node<message> one(g, [&](const message &) { a = 1; });
  tbb::flow::continue_node<message> two(g, [&](const message &) { b = 2; });
  tbb::flow::continue_node<message> both(g, [&](const message &) { sum = a + b; });
  tbb::flow::make_edge(one, both);
  tbb::flow::make_edge(two, both);
  one.try_put({});
  two.try_put({});
  g.wait_for_all();
  return sum;
}

long pipeline() {
  int next = 0;
  long sum = 0;
  tbb::parallel_pipeline(
      4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                     [&](tbb::flow_control &control) {
                                       if (next == 100)
                                         control.stop();
                                       return next++;
                                     }) &
             tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order,
                                         [&](int x) { sum += x; }));
  return sum;
}

bool error() {
  tbb::task_group group;
  group.run([] { throw std::runtime_error("in a task"); });
  group.run([] {});
  try {
    group.wait();
  } catch (const std::runtime_error &) {
    return true;
  }
  return false;
}

} // namespace

int main() { return check(call, fib, loop, dot, sort, chain, all, graph, pipeline, error); }

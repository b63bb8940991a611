// SPDX-License-Identifier: Apache-2.0
// What futures cost, in the models of bench/inncabs. A workload returns how many calls it made.
#pragma once

#include "../inncabs/support/future_list.hpp"
#include "../peers/sample.hpp"

#include <cmath>

namespace futures {

/// Computes fib(n) with two futures per call.
template <class Model>
long fib_call(long n) {
  if (n < 2)
    return n;
  typename Model::scope here;
  auto one = here.async(fib_call<Model>, n - 1);
  auto two = here.async(fib_call<Model>, n - 2);
  return one.get() + two.get();
}

template <class Model>
long fib(long n) {
  sample::require(fib_call<Model>(n) == sample::fib(n), "fib");
  return 2 * sample::fib_tasks(n);
}

/// Adds up the numbers of `leaves` tasks, the leaves of a tree of ten branches per node.
template <class Model>
long skynet_call(long first, long leaves) {
  if (leaves == 1)
    return first;
  typename Model::scope here;
  inncabs::future_list<Model, long> parts(10);
  for (long i = 0; i < 10; ++i)
    parts.async(here, skynet_call<Model>, first + i * (leaves / 10), leaves / 10);
  long sum = 0;
  for (auto &part : parts)
    sum += part.get();
  return sum;
}

/// Takes a power of ten.
template <class Model>
long skynet(long leaves) {
  long calls = 0;
  for (long level = leaves; level > 1; level /= 10) {
    sample::require(level % 10 == 0, "skynet wants a power of ten");
    calls += level;
  }
  sample::require(skynet_call<Model>(0, leaves) == leaves * (leaves - 1) / 2, "skynet");
  return calls;
}

struct area {
  double value;
  long calls;
};

inline double cubic(double x) { return (x * x + 1) * x; }

/// Integrates between two points, of which the values are known, halving until the trapezium is
/// close enough to its two halves.
template <class Model>
area integrate_call(double a, double b, double at_a, double at_b, double whole) {
  const double middle = (a + b) / 2, at_middle = cubic(middle);
  const double left = (at_a + at_middle) * (middle - a) / 2,
               right = (at_middle + at_b) * (b - middle) / 2;
  if (std::abs(left + right - whole) < 1e-4)
    return {left + right, 1};
  typename Model::scope here;
  auto one = here.async(integrate_call<Model>, a, middle, at_a, at_middle, left);
  auto two = here.async(integrate_call<Model>, middle, b, at_middle, at_b, right);
  const area low = one.get(), high = two.get();
  return {low.value + high.value, low.calls + high.calls + 1};
}

/// Integrates x^3 + x from 0 to n.
template <class Model>
long integrate(long n) {
  const double end = static_cast<double>(n), right = end * end * end * end / 4 + end * end / 2;
  const area found = integrate_call<Model>(0, end, cubic(0), cubic(end), cubic(end) * end / 2);
  sample::require(std::abs(found.value / right - 1) < 1e-3, "integrate");
  return found.calls - 1;
}

} // namespace futures

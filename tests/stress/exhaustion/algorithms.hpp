// SPDX-License-Identifier: Apache-2.0
// Algorithms as calls and as futures, for a program whose memory fails: see program.hpp. A call that returns has done all, one that throws
// has called no element twice.
#pragma once

#include "stress/exhaustion/futures.hpp"

#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>

#include <algorithm>
#include <numeric>

namespace exhaustion {

namespace ex = weft::execution;

inline constexpr int k_elements = 3000;

inline std::vector<int> mixed_numbers() {
  std::vector<int> v(k_elements);
  for (int i = 0; i != k_elements; ++i)
    v[static_cast<std::size_t>(i)] = static_cast<int>(i * 7919L % k_elements);
  return v;
}

/// Says whether the future has a result. It waits surely: the task has the caller's elements.
template <class Future>
bool has_ended_well(Future &f) {
  while (!attempt([&] { f.wait(); }))
    std::this_thread::sleep_for(100us);
  return attempt([&] { f.get(); });
}

inline void elements() {
  attempt([] {
    std::vector<int> hits(k_elements), doubled(k_elements), numbers = mixed_numbers();
    const auto few = ex::par.with(ex::grain(100));
    weft::future<void> f;
    bool whole = attempt([&] { f = weft::for_each(few(ex::task), hits, [](int &n) { ++n; }); }) &&
                 has_ended_well(f);
    for (const int n : hits)
      if (n > 1 || (whole && n != 1))
        return wrong("an element was left out or visited twice");
    whole = attempt([&] {
      weft::transform(few, numbers.begin(), numbers.end(), doubled.begin(),
                      [](int n) { return 2 * n; });
    });
    for (std::size_t i = 0; whole && i != doubled.size(); ++i)
      if (doubled[i] != 2 * numbers[i])
        return wrong("a transform is not whole");
    whole = attempt([&] {
      weft::for_loop(ex::par, 0, k_elements, [&](int i) { --hits[static_cast<std::size_t>(i)]; });
    });
    for (const int n : hits)
      if (n < -1 || n > 1 || (whole && n > 0))
        return wrong("a loop has left out an index or called it twice");
  });
}

inline void results() {
  constexpr long k_sum = long{k_elements} * (k_elements - 1) / 2;
  attempt([] {
    std::vector<int> numbers = mixed_numbers(), sums(k_elements);
    const auto few = ex::par.with(ex::grain(100));
    weft::future<long> sum;
    if (attempt([&] { sum = weft::reduce(few(ex::task), numbers, 0L); }) && wait_for_future(sum))
      attempt([&] {
        if (sum.get() != k_sum)
          wrong("a sum is another one");
      });
    attempt([&] {
      weft::inclusive_scan(few, numbers.begin(), numbers.end(), sums.begin());
      if (sums.back() != static_cast<int>(k_sum))
        wrong("a scan has another end");
    });
    weft::future<void> sorted;
    const bool whole = attempt([&] { sorted = weft::sort(few(ex::task), numbers); }) &&
                       has_ended_well(sorted);
    if (whole && !std::is_sorted(numbers.begin(), numbers.end()))
      wrong("what was sorted is not in order");
    if (std::accumulate(numbers.begin(), numbers.end(), 0L) != k_sum)
      wrong("a sort has lost an element");
    numbers = mixed_numbers();
    if (attempt([&] { weft::stable_sort(few, numbers); }) &&
        !std::is_sorted(numbers.begin(), numbers.end()))
      wrong("what was sorted is not in order");
  });
}

inline void all_of_algorithms() {
  for (int i = 0; i != 2; ++i) { // the first call remembers what it costs
    elements();
    results();
  }
}

} // namespace exhaustion

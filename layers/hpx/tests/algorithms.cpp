// SPDX-License-Identifier: Apache-2.0
// Algorithms over iterators and ranges, as tasks, with chunk sizes; loops with reductions.
#include "check.hpp"

#include <hpx/algorithm.hpp>
#include <hpx/execution.hpp>
#include <hpx/experimental/task_group.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/iterator_support.hpp>
#include <hpx/numeric.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

int hpx_main() {
  using hpx::execution::par;
  using hpx::execution::par_unseq;
  using hpx::execution::seq;
  using hpx::execution::task;
  std::vector<int> v(100000);
  std::iota(v.begin(), v.end(), 0);
  hpx::for_each(par, v.begin(), v.end(), [](int &i) { i *= 2; });
  CHECK(v[99999] == 199998);
  CHECK(hpx::reduce(par, v.begin(), v.end(), 0L, std::plus<>()) == 100000L * 99999L);
  CHECK(hpx::count_if(par_unseq, v.begin(), v.end(), [](int i) { return i % 4 == 0; }) == 50000);
  hpx::reverse(seq, v.begin(), v.end());
  hpx::future<void> sorted = hpx::sort(par(task), v.begin(), v.end());
  sorted.get();
  CHECK(std::is_sorted(v.begin(), v.end()));
  hpx::execution::experimental::static_chunk_size chunk(1000);
  std::vector<int> w(v.size());
  hpx::transform(par.with(chunk), v.begin(), v.end(), w.begin(), [](int i) { return i + 1; });
  CHECK(w[7] == 15);
  hpx::ranges::for_each(par.with(hpx::execution::experimental::auto_chunk_size()), w,
                        [](int &i) { --i; });
  CHECK(w == v);
  CHECK(hpx::ranges::all_of(par, w, [](int i) { return i % 2 == 0; }));
  long sum = 0;
  hpx::experimental::for_loop(par, 0, 1000, hpx::experimental::reduction(sum, 0L, std::plus<>()),
                              [](int i, long &into) { into += i; });
  CHECK(sum == 499500);
  hpx::experimental::for_loop(par.with(hpx::execution::experimental::dynamic_chunk_size(16)), 0,
                              static_cast<int>(w.size()),
                              [&](int i) { w[static_cast<std::size_t>(i)] = i; });
  CHECK(w[5000] == 5000);
  hpx::inclusive_scan(par, w.begin(), w.end(), w.begin());
  CHECK(w[4] == 10);
  hpx::parallel::for_each(hpx::parallel::par, w.begin(), w.end(), [](int &i) { i = 1; });
  CHECK(hpx::transform_reduce(par, w.begin(), w.end(), 0, std::plus<>(), [](int i) { return i; }) ==
        100000);
  CHECK(*hpx::max_element(par, v.begin(), v.end()) == 199998);
  hpx::sort(w.begin(), w.end(), std::greater<>()); // without a policy, in order
  CHECK(hpx::count(w, 1) == 100000);
  std::vector<std::size_t> squares(1000);
  hpx::ranges::for_each(par, hpx::util::counting_shape(squares.size()),
                        [&](std::size_t i) { squares[i] = i * i; });
  CHECK(squares[999] == 998001);
  hpx::experimental::task_group group;
  int ran = 0;
  group.run([&](int by) { ran = by; }, 3);
  group.wait();
  CHECK(ran == 3);
  sum = 0;
  hpx::experimental::for_loop(0, 10, [&](int i) { sum += i; });
  CHECK(sum == 45);
  std::puts("done");
  return hpx::local::finalize();
}

int main(int argc, char **argv) { return hpx::local::init(hpx_main, argc, argv); }

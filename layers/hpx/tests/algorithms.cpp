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
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

/// Makes and ends objects in memory that has none; `counted` is how many there are.
std::atomic<int> counted{0};
struct object {
  int number = 5;
  object() { ++counted; }
  explicit(false) object(int n) : number(n) { ++counted; }
  object(const object &other) : number(other.number) { ++counted; }
  object(object &&other) noexcept : number(other.number) { ++counted; }
  ~object() { --counted; }
};
void memory() {
  using hpx::execution::par;
  constexpr std::size_t k_objects = 1000;
  std::allocator<object> allocator;
  object *const first = allocator.allocate(2 * k_objects), *const second = first + k_objects;
  hpx::uninitialized_value_construct(par, first, second);
  hpx::uninitialized_copy_n(par, first, k_objects, second);
  CHECK(counted == 2 * k_objects && second[999].number == 5);
  hpx::destroy(par, first, second);
  CHECK(counted == k_objects);
  hpx::uninitialized_move_n(par, second, k_objects, first);
  hpx::destroy_n(par, second, k_objects);
  hpx::uninitialized_fill_n(par, second, k_objects, object(7));
  CHECK(counted == 2 * k_objects && second[1].number == 7 && first[1].number == 5);
  hpx::destroy_n(par(hpx::execution::task), first, 2 * k_objects).get();
  CHECK(counted == 0);
  hpx::uninitialized_default_construct(first, second); // without a policy, in order
  hpx::uninitialized_default_construct_n(par, second, 10);
  hpx::destroy(first, second);
  hpx::uninitialized_value_construct_n(par, first, 10);
  CHECK(counted == 20);
  hpx::destroy_n(first, 10);
  hpx::destroy_n(second, 10);
  allocator.deallocate(first, 2 * k_objects);
}

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
  int least = 0, most = 0;
  unsigned bits = 1;
  hpx::experimental::for_loop_n(
      par, 5, 1000, hpx::experimental::reduction_min(least), hpx::experimental::reduction_max(most),
      hpx::experimental::reduction_bit_xor(bits), [](int i, int &low, int &high, unsigned &own) {
        low = std::min(low, -i);
        high = std::max(high, i);
        own ^= 2u;
      });
  CHECK(least == -1004 && most == 1004 && bits == 1);
  hpx::experimental::for_loop_n(w.begin(), 3, [](auto it) { *it = 8; });
  CHECK(w[0] == 8 && w[2] == 8 && w[3] == 1);
  CHECK(hpx::unique_copy(par, w.begin(), w.end(), v.begin()) - v.begin() == 2 && v[1] == 1);
  memory();
  sum = 0;
  hpx::experimental::for_loop(0, 10, [&](int i) { sum += i; });
  CHECK(sum == 45);
  std::puts("done");
  return hpx::local::finalize();
}

int main(int argc, char **argv) { return hpx::local::init(hpx_main, argc, argv); }

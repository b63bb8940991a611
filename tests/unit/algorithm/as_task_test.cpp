// SPDX-License-Identifier: Apache-2.0
// Algorithms with par(task): futures of their results.
#include <weft/algorithm.hpp>
#include <weft/future.hpp>
#include <weft/numeric.hpp>
#include <weft/sync.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <vector>

namespace {

namespace ex = weft::execution;

std::vector<int> some_numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = static_cast<int>(i * 7919L % n);
  return v;
}

TEST(as_task, returns_before_the_algorithm_ends) {
  weft::event begin;
  std::vector<int> v(1000, 1);
  weft::future<void> all = weft::for_each(ex::par(ex::task), v, [&](int &x) {
    begin.wait();
    ++x;
  });
  EXPECT_FALSE(all.is_ready());
  begin.set();
  all.get();
  EXPECT_EQ(v, std::vector<int>(1000, 2));
}

TEST(as_task, gives_the_result_of_the_call) {
  const std::vector<int> v = some_numbers(10'000);
  weft::future<long> sum = weft::reduce(ex::par(ex::task), v, 0L);
  auto found = weft::find(ex::par(ex::task), v.begin(), v.end(), 17);
  auto most = weft::max_element(ex::par(ex::task), v);
  EXPECT_EQ(sum.get(), 9999L * 10'000 / 2);
  EXPECT_EQ(*found.get(), 17);
  EXPECT_EQ(*most.get(), 9999);
}

TEST(as_task, leaves_the_range_where_it_is) {
  std::vector<int> v = some_numbers(5000), w(5000);
  weft::future<void> sorted = weft::sort(ex::par(ex::task), v);
  sorted.get();
  EXPECT_TRUE(std::ranges::is_sorted(v));
  weft::transform(ex::par_unseq(ex::task), v, w.begin(), [](int x) { return -x; }).get();
  EXPECT_EQ(w[4999], -4999);
  int array[] = {3, 1, 2};
  weft::sort(ex::seq(ex::task), array).get();
  EXPECT_EQ(array[0], 1);
  EXPECT_EQ(array[2], 3);
}

TEST(as_task, keeps_values_functions_and_temporary_ranges) {
  std::vector<std::string> v(100);
  weft::future<void> filled;
  {
    std::string text(50, 'x');
    filled = weft::fill(ex::par(ex::task), v, text);
    text.assign(50, 'y'); // the task has a copy
  }
  filled.get();
  EXPECT_EQ(v[99], std::string(50, 'x'));
  auto shared = std::make_shared<std::atomic<long>>(0);
  weft::future<void> each = weft::for_each(ex::par(ex::task), std::views::iota(0, 100),
                                           [shared](int i) { *shared += i; });
  each.get();
  EXPECT_EQ(*shared, 4950);
  weft::future<long> sum = weft::reduce(ex::par(ex::task), std::vector<int>{1, 2, 3}, 0L);
  EXPECT_EQ(sum.get(), 6);
}

TEST(as_task, tells_a_second_range_from_a_value_that_has_elements) {
  std::vector<std::string> words{"a", "c"}, others{"b"}, merged(3);
  auto end = weft::merge(ex::par(ex::task), words, others, merged.begin());
  EXPECT_EQ(end.get(), merged.end());
  EXPECT_EQ(merged, (std::vector<std::string>{"a", "b", "c"}));
  std::string init = "<";
  const auto join = [](const std::string &a, const std::string &b) { return a + b; };
  weft::event begin;
  auto text = weft::transform_reduce(ex::par(ex::task), merged, init, join, [&](auto &word) {
    begin.wait();
    return word;
  });
  init = "?";
  begin.set();
  EXPECT_EQ(text.get(), "<abc");
  std::vector<int> v{1, 2}, w{3, 4}, sums(2);
  weft::transform(ex::par(ex::task), v, w, sums.begin(), std::plus<>()).get();
  EXPECT_EQ(sums, (std::vector<int>{4, 6}));
  EXPECT_EQ(weft::transform_reduce(ex::par(ex::task), v, w, 0).get(), 11);
}

TEST(as_task, runs_loops_and_scans) {
  const long n = 1000;
  std::vector<long> to(1000);
  long sum = 0;
  weft::for_loop(ex::par(ex::task), 0L, n, weft::reduction_plus(sum), [&](long i, long &mine) {
    to[static_cast<std::size_t>(i)] = i;
    mine += i;
  }).get();
  EXPECT_EQ(sum, 999L * 1000 / 2);
  weft::inclusive_scan(ex::par(ex::task), to, to.begin()).get();
  EXPECT_EQ(to[999], 999L * 1000 / 2);
}

TEST(as_task, hands_exceptions_to_the_future) {
  weft::future<void> failed = weft::for_each(ex::par(ex::task), std::views::iota(0, 10),
                                             [](int) { throw std::runtime_error("an element"); });
  EXPECT_THROW(failed.get(), std::runtime_error);
}

TEST(as_task, goes_on_with_then_and_with_the_policy_within) {
  const std::vector<int> v = some_numbers(1000);
  const auto policy = ex::par.with(ex::grain(10))(ex::task);
  EXPECT_EQ(policy.within().control().grain, 10u);
  weft::future<long> twice = weft::count_if(policy, v, [](int x) {
                               return x < 10;
                             }).then([](auto count) { return 2L * count.get(); });
  EXPECT_EQ(twice.get(), 20);
}

} // namespace

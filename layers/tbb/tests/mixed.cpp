// SPDX-License-Identifier: Apache-2.0
// A little of everything, fast: run_mixed runs it hundreds of times beside busy processes.
#include "door.hpp"
#include "sums.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_group.h>

int main() {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(door::threads_asked()));
  std::atomic<int> wrong{0};
  std::thread openmp([&] {
    for (int i = 0; i < 20; ++i)
      wrong += sum_by_openmp(1000, 3) != 1000L * 999 / 2;
  });
  for (int i = 0; i < 20; ++i)
    wrong += sum_by_tbb(5000, 50) != 5000L * 4999 / 2;
  tbb::enumerable_thread_specific<long> local(0L);
  tbb::parallel_for(0, 100, [&](int i) {
    local.local() += i;
    wrong += sum_by_openmp(100 + i, 3) != (100L + i) * (99 + i) / 2;
    local.local() += i;
  });
  CHECK(local.combine(std::plus<>()) == 2 * 99L * 100 / 2);
  std::vector<int> numbers(20'000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int>(i * 7919 % 20'011);
  tbb::parallel_sort(numbers);
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  tbb::flow::graph g;
  std::atomic<long> seen{0};
  tbb::flow::function_node<int, int> one(g, tbb::flow::unlimited, [](int i) { return i + 1; });
  tbb::flow::function_node<int, int> two(g, tbb::flow::serial, [&](int i) {
    seen += i;
    return 0;
  });
  tbb::flow::make_edge(one, two);
  for (int i = 0; i < 100; ++i)
    one.try_put(i);
  g.wait_for_all();
  CHECK(seen == 100L * 101 / 2);
  int next = 0;
  long piped = 0;
  tbb::parallel_pipeline(
      4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                     [&](tbb::flow_control &control) {
                                       if (next == 100)
                                         control.stop();
                                       return next++;
                                     }) &
             tbb::make_filter<int, int>(tbb::filter_mode::parallel, [](int i) { return 2 * i; }) &
             tbb::make_filter<int, void>(tbb::filter_mode::serial_out_of_order,
                                         [&](int i) { piped += i; }));
  CHECK(piped == 9900);
  tbb::task_group group;
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i)
    group.run([&] { ran += sum_by_tbb(100, 50) == 4950; });
  group.wait();
  CHECK(ran == 50);
  openmp.join();
  CHECK(wrong == 0);
  door::check_threads();
  std::puts("mixed: ok");
}

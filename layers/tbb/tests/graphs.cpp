// SPDX-License-Identifier: Apache-2.0
// Task groups, flow graphs and pipelines; exceptions and cancellation through them.
#include "door.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace {

long fibonacci(int n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
  tbb::task_group g;
  g.run([&] { a = fibonacci(n - 1); });
  b = fibonacci(n - 2);
  g.wait();
  return a + b;
}

void groups() {
  CHECK(fibonacci(18) == 2584);
  tbb::task_group g;
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i)
    g.run([&, i] {
      ++ran;
      if (i == 50)
        throw std::runtime_error("fifty");
    });
  std::string said;
  try {
    g.wait();
  } catch (const std::runtime_error &e) {
    said = e.what();
  }
  CHECK(said == "fifty" && ran >= 1);
  tbb::task_group cancelled;
  std::atomic<bool> go{false};
  cancelled.run([&] {
    while (!go)
      std::this_thread::yield();
    cancelled.cancel();
  });
  go = true;
  CHECK(cancelled.wait() == tbb::canceled);
  bool caught = false;
  try {
    tbb::parallel_for(0, 10'000, [](int i) {
      if (i == 7777)
        throw i;
    });
  } catch (int i) {
    caught = i == 7777;
  }
  CHECK(caught);
}

void flow_graphs() {
  tbb::flow::graph g;
  std::atomic<long> sum{0};
  tbb::flow::function_node<int, int> square(g, tbb::flow::unlimited, [](int i) { return i * i; });
  tbb::flow::function_node<int, int> cube(g, tbb::flow::unlimited, [](int i) { return i * i * i; });
  tbb::flow::join_node<std::tuple<int, int>, tbb::flow::queueing> both(g);
  long in_series = 0; // of a serial node: no other thread runs it at the same time
  tbb::flow::function_node<std::tuple<int, int>, int> add(g, tbb::flow::serial,
                                                          [&](const std::tuple<int, int> &t) {
                                                            in_series += 1;
                                                            sum += std::get<0>(t) + std::get<1>(t);
                                                            return 0;
                                                          });
  tbb::flow::make_edge(square, tbb::flow::input_port<0>(both));
  tbb::flow::make_edge(cube, tbb::flow::input_port<1>(both));
  tbb::flow::make_edge(both, add);
  for (int i = 1; i <= 200; ++i) {
    square.try_put(i);
    cube.try_put(i);
  }
  g.wait_for_all();
  CHECK(in_series == 200);
  CHECK(sum == 200L * 201 * 401 / 6 + (200L * 201 / 2) * (200L * 201 / 2));
  // A grid in which each node waits for the ones above and to the left.
  constexpr int k_side = 20;
  tbb::flow::graph grid;
  std::vector<long> value(k_side * k_side);
  std::vector<std::unique_ptr<tbb::flow::continue_node<tbb::flow::continue_msg>>> nodes;
  for (int i = 0; i < k_side * k_side; ++i)
    nodes.push_back(std::make_unique<tbb::flow::continue_node<tbb::flow::continue_msg>>(
        grid, [&value, i](const tbb::flow::continue_msg &) {
          const auto at = [&](int k) { return value[static_cast<std::size_t>(k)]; };
          const long above = i >= k_side ? at(i - k_side) : 0, left = i % k_side ? at(i - 1) : 0;
          value[static_cast<std::size_t>(i)] = i == 0 ? 1 : (above + left) % 1'000'003;
        }));
  for (int i = 0; i < k_side * k_side; ++i) {
    const auto node = [&](int k) -> auto & { return *nodes[static_cast<std::size_t>(k)]; };
    if (i + k_side < k_side * k_side)
      tbb::flow::make_edge(node(i), node(i + k_side));
    if (i % k_side != k_side - 1)
      tbb::flow::make_edge(node(i), node(i + 1));
  }
  nodes[0]->try_put(tbb::flow::continue_msg());
  grid.wait_for_all();
  std::vector<long> expected(k_side * k_side, 1);
  for (std::size_t i = 1; i < expected.size(); ++i)
    expected[i] =
        ((i >= k_side ? expected[i - k_side] : 0) + (i % k_side ? expected[i - 1] : 0)) % 1'000'003;
  CHECK(value == expected);
}

void pipelines() {
  int next = 0;
  std::vector<int> out;
  tbb::parallel_pipeline(8, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                                        [&](tbb::flow_control &control) {
                                                          if (next == 1000)
                                                            control.stop();
                                                          return next++;
                                                        }) &
                                tbb::make_filter<int, int>(tbb::filter_mode::parallel,
                                                           [](int i) { return 3 * i + 1; }) &
                                tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order,
                                                            [&](int i) { out.push_back(i); }));
  CHECK(out.size() == 1000);
  for (int i = 0; i < 1000; ++i)
    CHECK(out[static_cast<std::size_t>(i)] == 3 * i + 1);
}

} // namespace

int main() {
  const auto threads = static_cast<std::size_t>(door::threads_asked());
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([] {
    groups();
    flow_graphs();
    pipelines();
  });
  if (threads > 1)
    door::check_threads();
  std::puts("graphs: ok");
}

// SPDX-License-Identifier: Apache-2.0
// Rows of `weft-bench cliffs`: the constructs of the C++ interface.
#include "rows.h"

#include <weft/weft.hpp>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

namespace {

constexpr int k_addresses = 64;
long g_cells[k_addresses];
long g_sum;

long sum_of_tasks(long n, auto spawn_one) {
  for (long i = 0; i < n; ++i)
    spawn_one(i);
  weft::taskwait();
  return n;
}

long independent(long n) {
  return sum_of_tasks(n, [](long) { weft::spawn([] {}); });
}
long in_a_group(long n) {
  weft::task_group g;
  for (long i = 0; i < n; ++i)
    g.spawn([] {});
  g.wait();
  return n;
}
long chain(long n) {
  return sum_of_tasks(n, [](long) { weft::spawn([] { ++g_sum; }, weft::inout(g_sum)); });
}
long addresses(long count) {
  static std::vector<int> cells;
  cells.resize(static_cast<std::size_t>(count));
  return sum_of_tasks(1'000'000, [&](long i) {
    weft::spawn([] {}, weft::inout(cells[static_cast<std::size_t>(i * 7919 % count)]));
  });
}
long readers(long each) {
  return sum_of_tasks(400'000, [&](long i) {
    i % (each + 1) == 0 ? weft::spawn([] {}, weft::inout(g_sum))
                        : weft::spawn([] {}, weft::in(g_sum));
  });
}
long accesses(long each) {
  static std::vector<int> cells(4096);
  std::vector<weft::access> list(static_cast<std::size_t>(each));
  const long n = 400'000 / each;
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < each; ++j)
      list[static_cast<std::size_t>(j)] =
          weft::inout(cells[static_cast<std::size_t>((i * 31 + j) % 4096)]);
    weft::spawn([] {}, weft::accesses(list));
  }
  weft::taskwait();
  return n * each;
}

enum class innermost { weak, strong };

void descend(long depth, innermost access) {
  if (depth == 0)
    return;
  if (depth == 1 && access == innermost::strong)
    weft::spawn([] { ++g_sum; }, weft::inout(g_sum));
  else
    weft::spawn([=] { descend(depth - 1, access); }, weft::weak_inout(g_sum));
}
long lines(long tasks, long depth, innermost access) {
  const long n = tasks / (depth + 1) + 1;
  for (long i = 0; i < n; ++i)
    weft::spawn([=] { descend(depth, access); }, weft::weak_inout(g_sum));
  weft::taskwait();
  return n * (depth + 1);
}
long nested(long n) { return lines(n, 8, innermost::weak); }
long nested_strong(long n) { return lines(n, 8, innermost::strong); }
long depth(long d) { return lines(200'000, d, innermost::weak); }

long tree_of_groups(long d) {
  if (d == 0)
    return 1;
  weft::task_group g;
  long a = 0, b = 0;
  g.spawn([&] { a = tree_of_groups(d - 1); });
  g.spawn([&] { b = tree_of_groups(d - 1); });
  g.wait();
  return a + b + 1;
}
long tree_that_waits(long d) {
  if (d == 0)
    return 1;
  long a = 0, b = 0;
  weft::spawn([&] { a = tree_that_waits(d - 1); });
  weft::spawn([&] { b = tree_that_waits(d - 1); });
  weft::taskwait();
  return a + b + 1;
}
long tree_of_handles(long d) {
  if (d == 0)
    return 1;
  auto a = weft::spawn([=] { return tree_of_handles(d - 1); });
  auto b = weft::spawn([=] { return tree_of_handles(d - 1); });
  return a.get() + b.get() + 1;
}
void grow(long d) {
  if (d == 0)
    return;
  weft::spawn([=] { grow(d - 1); });
  weft::spawn([=] { grow(d - 1); });
}
long tree_without_waits(long d) {
  grow(d);
  weft::taskwait();
  return (2L << d) - 1;
}
long tree_of_joins(long d) {
  if (d == 0)
    return 1;
  long a = 0, b = 0;
  weft::join([&] { a = tree_of_joins(d - 1); }, [&] { b = tree_of_joins(d - 1); });
  return a + b + 1;
}

long commutative(long n) {
  return sum_of_tasks(n, [](long) { weft::spawn([] { ++g_sum; }, weft::commutative(g_sum)); });
}
long commutative_pairs(long n) {
  return sum_of_tasks(n, [](long i) {
    weft::spawn([] {}, weft::commutative(g_cells[i % k_addresses]),
                weft::commutative(g_cells[(i * 7 + 3) % k_addresses]));
  });
}
long commutative_random(long n) {
  static unsigned seed = 1;
  return sum_of_tasks(n, [](long) {
    seed = seed * 1664525u + 1013904223u;
    weft::spawn([] {}, weft::commutative(g_cells[(seed >> 16) % k_addresses]),
                weft::commutative(g_cells[(seed >> 24) % k_addresses]));
  });
}
long concurrent(long n) {
  return sum_of_tasks(n, [](long) { weft::spawn([] {}, weft::concurrent(g_sum)); });
}
long reducing(long n) {
  return sum_of_tasks(n, [](long) {
    weft::spawn([] { weft::reduction_local(g_sum) += 1; }, weft::reduction(g_sum, weft::sum));
  });
}
long priorities(long n) {
  return sum_of_tasks(
      n, [](long i) { weft::spawn([] {}, weft::priority(static_cast<int>(i * 7919 % 1000))); });
}
long mutex(long n) {
  static weft::mutex m;
  return sum_of_tasks(n, [](long) {
    weft::spawn([] {
      m.lock();
      ++g_sum;
      m.unlock();
    });
  });
}
long critical(long n) {
  return sum_of_tasks(n,
                      [](long) { weft::spawn([] { weft::critical("cliffs", [] { ++g_sum; }); }); });
}
long final_trees(long n) {
  return sum_of_tasks(n / 64 + 1,
                      [](long) {
                        weft::spawn(
                            [] {
                              for (int i = 0; i < 63; ++i)
                                weft::spawn([] {});
                            },
                            weft::final());
                      }) *
         64;
}
long at_once(long n) {
  for (long i = 0; i < n; ++i)
    weft::spawn([] {}, weft::if_(false), weft::inout(g_sum));
  return n;
}
long waiting_parents(long n) {
  return sum_of_tasks(n / 5 + 1,
                      [](long) {
                        weft::spawn(
                            [] {
                              for (int i = 0; i < 4; ++i)
                                weft::spawn([] {});
                            },
                            weft::inout(g_sum), weft::wait);
                      }) *
         5;
}
long strong_parents(long n) {
  return sum_of_tasks(n / 5 + 1,
                      [](long) {
                        weft::spawn(
                            [] {
                              for (int i = 0; i < 4; ++i)
                                weft::spawn([] {}, weft::inout(g_sum));
                            },
                            weft::inout(g_sum));
                      }) *
         5;
}
long events(long n) {
  return sum_of_tasks(n, [](long) {
    weft::spawn(
        [] {
          auto self = weft::this_task::self();
          weft::this_task::increase_events();
          weft::decrease_events(self);
        },
        weft::inout(g_sum));
  });
}
long calls_of_taskfor(long n) {
  for (long i = 0; i < n; ++i) {
    weft::taskfor(weft::range(1000), [](int) {});
    weft::taskwait();
  }
  return n;
}
long calls_of_taskloop(long n) {
  for (long i = 0; i < n; ++i)
    weft::taskloop(weft::range(1000), [](int) {});
  return n;
}
long long_taskfor(long n) {
  weft::taskfor(weft::range(n), [](long) {});
  weft::taskwait();
  return n;
}
long rounds(long n) {
  weft::taskiter(n, [] {
    for (int i = 0; i < k_addresses; ++i)
      weft::spawn([] {}, weft::inout(g_cells[i]), weft::in(g_cells[(i + 1) % k_addresses]));
  });
  weft::taskwait();
  return n * k_addresses;
}
long blocks(long n) {
  static std::vector<double> matrix(1 << 20);
  return sum_of_tasks(100'000, [&](long i) {
    const long bytes = (1 << 20) / n;
    weft::spawn([] {},
                weft::inout(weft::region(matrix).span(static_cast<std::size_t>(i * 131 % n * bytes),
                                                      static_cast<std::size_t>(bytes))));
  });
}
long external_threads(long n) {
  std::vector<std::thread> all;
  for (int k = 0; k < 8; ++k)
    all.emplace_back([=] {
      for (long i = 0; i < n / 8; ++i)
        weft::spawn([] {});
      weft::taskwait();
    });
  for (std::thread &t : all)
    t.join();
  return n;
}

long ready_calls(long n) {
  return sum_of_tasks(n, [](long) {
    weft::spawn([] {}, weft::inout(g_sum), weft::onready([](void *) {}, nullptr));
  });
}
long functions(long n) {
  static std::atomic<long> left;
  left = n;
  for (long i = 0; i < n; ++i)
    weft::spawn_function([](void *) { left.fetch_sub(1, std::memory_order_release); }, nullptr,
                         nullptr, nullptr);
  while (left.load(std::memory_order_acquire) != 0)
    weft::taskyield();
  return n;
}
long streams(long n) {
  weft::function_stream in_order("cliffs");
  weft::function_options options;
  options.in = &in_order;
  for (long i = 0; i < n; ++i)
    weft::spawn_function([](void *) { ++g_sum; }, nullptr, nullptr, nullptr, options);
  in_order.wait();
  return n;
}
long many_streams(long count) {
  std::deque<weft::function_stream> all;
  for (long i = 0; i < count; ++i)
    all.emplace_back("cliffs");
  weft::function_options options;
  for (long i = 0; i < 200'000; ++i) {
    options.in = &all[static_cast<std::size_t>(i * 7919 % count)];
    weft::spawn_function([](void *) {}, nullptr, nullptr, nullptr, options);
  }
  for (weft::function_stream &one : all)
    one.wait();
  return 200'000;
}
// Each task blocks; the next one of a chain of its own unblocks it.
long blocked(long n) {
  static std::vector<weft::task_ref> asleep;
  asleep.assign(static_cast<std::size_t>(n), {});
  return sum_of_tasks(n, [](long i) {
    weft::task_ref &me = asleep[static_cast<std::size_t>(i)];
    weft::spawn(
        [&me] {
          me = weft::this_task::self();
          weft::spawn([&me] { weft::unblock(me); });
          weft::this_task::block();
        },
        weft::inout(g_cells[i % k_addresses]));
  });
}
// All n tasks are blocked at once before the first is unblocked.
long blocked_at_once(long n) {
  static std::vector<weft::task_ref> asleep;
  static std::atomic<long> count;
  asleep.assign(static_cast<std::size_t>(n), {});
  count = 0;
  for (long i = 0; i < n; ++i)
    weft::spawn([i] {
      asleep[static_cast<std::size_t>(i)] = weft::this_task::self();
      count.fetch_add(1, std::memory_order_release);
      weft::this_task::block();
    });
  while (count.load(std::memory_order_acquire) != n)
    weft::taskyield();
  for (weft::task_ref one : asleep)
    weft::unblock(one);
  weft::taskwait();
  return n;
}
long task_locals(long n) {
  static weft::task_local<long> local;
  return sum_of_tasks(n, [](long) { weft::spawn([] { ++*local; }); });
}
long locals_of_a_task(long count) {
  std::deque<weft::task_local<long>> locals(static_cast<std::size_t>(count));
  const long tasks = 200'000 / count;
  for (long i = 0; i < tasks; ++i)
    weft::spawn([&] {
      for (weft::task_local<long> &one : locals)
        ++*one;
    });
  weft::taskwait();
  return tasks * count;
}
long waits_on_data(long n) {
  for (long i = 0; i < n; ++i) {
    weft::spawn([] { ++g_sum; }, weft::inout(g_sum));
    weft::taskwait(weft::in(g_sum));
  }
  return n;
}
long released_early(long n) {
  return sum_of_tasks(
      n, [](long) { weft::spawn([] { weft::release(weft::inout(g_sum)); }, weft::inout(g_sum)); });
}
long yields(long n) {
  const long each = n / k_addresses;
  for (int k = 0; k < k_addresses; ++k)
    weft::spawn([each] {
      for (long i = 0; i < each; ++i)
        weft::taskyield();
    });
  weft::taskwait();
  return each * k_addresses;
}

const cliff_row k_rows[] = {
    {"independent", "tasks", &independent, {1000, 10'000, 100'000, 1'000'000, 10'000'000}},
    {"group", "tasks", &in_a_group, {1000, 10'000, 100'000, 1'000'000, 10'000'000}},
    {"chain", "tasks", &chain, {1000, 10'000, 100'000, 1'000'000, 10'000'000}},
    {"addresses", "addresses", &addresses, {1, 100, 10'000, 100'000, 1'000'000}},
    {"readers", "readers", &readers, {1, 10, 100, 1000, 10'000, 100'000}},
    {"accesses", "accesses", &accesses, {1, 4, 16, 64, 256, 1024}},
    {"depth", "levels", &depth, {1, 8, 32, 128}},
    {"nested", "tasks", &nested, {1000, 10'000, 100'000, 1'000'000}},
    {"nested-strong", "tasks", &nested_strong, {1000, 10'000, 100'000, 1'000'000}},
    {"tree-groups", "levels", &tree_of_groups, {8, 12, 16, 20}},
    {"tree-taskwait", "levels", &tree_that_waits, {8, 12, 16, 20}},
    {"tree-handles", "levels", &tree_of_handles, {8, 12, 16}},
    {"tree-no-wait", "levels", &tree_without_waits, {8, 12, 16, 20}},
    {"tree-joins", "levels", &tree_of_joins, {8, 12, 16, 20}},
    {"commutative", "tasks", &commutative, {1000, 10'000, 100'000, 1'000'000}},
    {"commutative-pairs", "tasks", &commutative_pairs, {1000, 10'000, 100'000, 1'000'000}},
    {"commutative-random", "tasks", &commutative_random, {1000, 10'000, 100'000, 1'000'000}},
    {"concurrent", "tasks", &concurrent, {1000, 10'000, 100'000, 1'000'000}},
    {"reduction", "tasks", &reducing, {1000, 10'000, 100'000, 1'000'000}},
    {"priorities", "tasks", &priorities, {1000, 10'000, 100'000, 1'000'000}},
    {"mutex", "tasks", &mutex, {1000, 10'000, 100'000, 1'000'000}},
    {"critical", "tasks", &critical, {1000, 10'000, 100'000, 1'000'000}},
    {"final", "tasks", &final_trees, {1000, 10'000, 100'000, 1'000'000}},
    {"if-false", "tasks", &at_once, {1000, 10'000, 100'000, 1'000'000}},
    {"wait-clause", "tasks", &waiting_parents, {1000, 10'000, 100'000, 1'000'000}},
    {"strong-parents", "tasks", &strong_parents, {1000, 10'000, 100'000, 1'000'000}},
    {"events", "tasks", &events, {1000, 10'000, 100'000, 1'000'000}},
    {"taskfor", "calls", &calls_of_taskfor, {10, 100, 1000, 10'000}},
    {"taskloop", "calls", &calls_of_taskloop, {10, 100, 1000, 10'000}},
    {"long-taskfor", "iterations", &long_taskfor, {100'000, 1'000'000, 10'000'000, 100'000'000}},
    {"taskiter", "rounds", &rounds, {10, 100, 1000, 10'000}},
    {"regions", "blocks", &blocks, {1, 16, 256, 4096}},
    {"onready", "tasks", &ready_calls, {1000, 10'000, 100'000, 1'000'000}},
    {"functions", "functions", &functions, {1000, 10'000, 100'000, 1'000'000}},
    {"stream", "functions", &streams, {1000, 10'000, 100'000, 1'000'000}},
    {"streams", "streams", &many_streams, {1, 100, 10'000}},
    {"block", "tasks", &blocked, {1000, 10'000, 100'000, 1'000'000}},
    {"blocked-at-once", "tasks", &blocked_at_once, {10, 100, 1000, 10'000}},
    {"task-local", "tasks", &task_locals, {1000, 10'000, 100'000, 1'000'000}},
    {"task-locals", "variables", &locals_of_a_task, {1, 10, 100, 1000}},
    {"taskwait-on", "tasks", &waits_on_data, {1000, 10'000, 100'000, 1'000'000}},
    {"release", "tasks", &released_early, {1000, 10'000, 100'000, 1'000'000}},
    {"taskyield", "yields", &yields, {1000, 10'000, 100'000, 1'000'000}},
    {"external-threads", "tasks", &external_threads, {8000, 80'000, 800'000}},
};

} // namespace

int main(int count, char **words) {
  weft::taskwait();
  return cliff_main(count, words, k_rows, sizeof k_rows / sizeof *k_rows);
}

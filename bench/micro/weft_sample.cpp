// SPDX-License-Identifier: Apache-2.0
// The workloads in Weft. Settings come from the environment, the number of workers from the command line.
#include "../peers/sample.hpp"

#include <weft.h>
#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using sample::work;

namespace {

char grid[sample::k_row][sample::k_row];
char columns[2][2];

void independent(long n, long body) {
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); });
  weft::taskwait();
}

void chain(long n, long body) {
  static char x;
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); }, weft::inout(x));
  weft::taskwait();
}

/// Spawns the same by the C interface in two steps.
void c_chain(long n, long body) {
  static char x;
  for (long i = 0; i < n; ++i) {
    weft_prepared task;
    const auto run = [](void *arg) {
      work(*static_cast<long *>(arg));
      return 0;
    };
    sample::require(!weft_task_prepare(&task, run, sizeof body, 1, nullptr), "prepare");
    *static_cast<long *>(task.arg) = body;
    const weft_access access = weft_inout(&x);
    sample::require(!weft_task_submit(&task, &access, 1), "submit");
  }
  weft::taskwait();
}

/// Spawns the same with regions that are equal or disjoint: `tiles` chains, in turns.
void region_chain(long n, long tiles, long body) {
  static std::vector<char> x(static_cast<std::size_t>(tiles) * 64);
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); }, weft::inout(weft::region(x).span(i % tiles * 64, 64)));
  weft::taskwait();
}

/// Spawns tasks that share: reducing ones, with or without two vectors that they read, concurrent
/// ones, and commutative ones.
void reduce(long n) {
  static long sum;
  for (long i = 0; i < n; ++i)
    weft::spawn([] { ++weft::reduction_local(sum); }, weft::reduction(sum, weft::sum));
  weft::taskwait();
  sample::require(std::exchange(sum, 0) == n, "reduce");
}

void dot(long n) {
  static long sum;
  static char x[32], y[32];
  for (long i = 0; i < n; ++i)
    weft::spawn([] { ++weft::reduction_local(sum); }, weft::in(x[i % 32]), weft::in(y[i % 32]),
                weft::reduction(sum, weft::sum));
  weft::taskwait();
  sample::require(std::exchange(sum, 0) == n, "dot");
}

void concurrently(long n, long body) {
  static char x;
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); }, weft::concurrent(x));
  weft::taskwait();
}

weft::task<long> ready_child(long n) { co_return n; }

/// Awaits children that are ready, in one coroutine.
void coroutine_child(long n) {
  const auto parent = [](long rounds) -> weft::task<long> {
    long sum = 0;
    for (long i = 0; i < rounds; ++i)
      sum += co_await ready_child(1);
    co_return sum;
  };
  sample::require(parent(n).get() == n, "coroutine-child");
}

/// Leaves the coroutine, which goes on at once at the end of the worker's queue.
struct leaves : weft::detail::coro_awaiter {
  static constexpr bool await_ready() noexcept { return false; }
  template <class Handle>
  void await_suspend(Handle h) {
    begin_wait(h);
    end_wait(
        h,
        [](void *self) noexcept { weft::detail::coro_go_on(static_cast<leaves *>(self)->goes_on); },
        this);
  }
  static void await_resume() noexcept {}
};
void coroutine_suspend(long n) {
  const auto leaver = [](long rounds) -> weft::task<long> {
    for (long i = 0; i < rounds; ++i)
      co_await leaves();
    co_return rounds;
  };
  sample::require(leaver(n).get() == n, "coroutine-suspend");
}

/// Lets two coroutines wait for each other in turns: n waits in all.
void coroutine_turns(long n) {
  weft::binary_semaphore turns[2]{weft::binary_semaphore(1), weft::binary_semaphore(0)};
  const auto player = [&](long rounds, int me) -> weft::task<long> {
    for (long i = 0; i < rounds; ++i) {
      co_await turns[me].async_acquire();
      turns[1 - me].release();
    }
    co_return rounds;
  };
  weft::future<long> other = weft::async(player(n / 2, 1));
  sample::require(player(n / 2, 0).get() + other.get() == n, "coroutine-turns");
}

void commuting(long n, long body) {
  static char x;
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); }, weft::commutative(x));
  weft::taskwait();
}

/// Runs the same tasks as graphs that are built once: n in all, k_iteration per iteration.
constexpr long k_iteration = 1000;
void iterate_chain(long n, long body) {
  static char x;
  weft::taskiter(
      n / k_iteration,
      [body] {
        for (long i = 0; i < k_iteration; ++i)
          weft::spawn([body] { work(body); }, weft::inout(x));
      },
      weft::nogroup);
  weft::taskwait();
}

void iterate_independent(long n, long body) {
  weft::taskiter(
      n / k_iteration,
      [body] {
        for (long i = 0; i < k_iteration; ++i)
          weft::spawn([body] { work(body); });
      },
      weft::nogroup);
  weft::taskwait();
}

/// Spawns tasks that read their neighbours: four edges per task.
void iterate_stencil(long n, long body) {
  static char x[k_iteration + 2];
  weft::taskiter(
      n / k_iteration,
      [body] {
        for (long i = 1; i <= k_iteration; ++i)
          weft::spawn([body] { work(body); }, weft::in(x[i - 1]), weft::inout(x[i]),
                      weft::in(x[i + 1]));
      },
      weft::nogroup);
  weft::taskwait();
}

void two_wave(long n, char *a, char *b, long body) {
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); }, weft::inout(a[i]));
  for (long i = 0; i < n; ++i)
    weft::spawn([body] { work(body); }, weft::in(a[i]), weft::out(b[i]));
  weft::taskwait();
}

void wavefront(long sweeps, long body) {
  for (long s = 0; s < sweeps; ++s)
    for (int i = 1; i <= sample::k_side; ++i)
      for (int j = 1; j <= sample::k_side; ++j)
        weft::spawn([body] { work(body); }, weft::in(grid[i][j - 1]), weft::in(grid[i - 1][j]),
                    weft::inout(grid[i][j]));
  weft::taskwait();
}

void stencil(long steps, long body) {
  for (long t = 0; t < steps; ++t) {
    char *before = columns[t % 2], *now = columns[(t + 1) % 2];
    for (int c = 0; c < 2; ++c)
      weft::spawn([body] { work(body); }, weft::in(before[0]), weft::in(before[1]),
                  weft::out(now[c]));
  }
  weft::taskwait();
}

void group_spawn(long n, long body) {
  weft::task_group group;
  for (long i = 0; i < n; ++i)
    group.spawn([body] { work(body); });
  group.wait();
}

/// Runs `f` as a task, because on a thread's own stack nothing runs in place.
template <class F>
void in_task(F f) {
  weft::task_group group;
  group.spawn(f);
  group.wait();
}

void async_get(long n) {
  in_task([n] {
    long sum = 0;
    for (long i = 0; i < n; ++i)
      sum += weft::async([] { return 1; }).get();
    sample::require(sum == n, "async-get");
  });
}

void set_get(long n) {
  in_task([n] {
    long sum = 0;
    for (long i = 0; i < n; ++i) {
      weft::promise<int> p;
      weft::future<int> f = p.get_future();
      p.set_value(1);
      sum += f.get();
    }
    sample::require(sum == n, "set-get");
  });
}

void then_chain(long n) {
  in_task([n] {
    weft::promise<long> p;
    weft::future<long> f = p.get_future();
    for (long i = 0; i < n; ++i)
      f = f.then([](long v) { return v + 1; });
    p.set_value(0);
    sample::require(f.get() == n, "then-chain");
  });
}

/// Combines `n` copies of a future that is not ready.
void when_all(long n) {
  in_task([n] {
    weft::promise<long> p;
    const weft::shared_future<long> f = p.get_future();
    std::vector<weft::shared_future<long>> inputs(static_cast<std::size_t>(n), f);
    weft::future<std::vector<weft::shared_future<long>>> all = weft::when_all(std::move(inputs));
    p.set_value(0);
    sample::require(all.get().size() == static_cast<std::size_t>(n), "when-all");
  });
}

long fib_spawn(long n) {
  if (n < 2)
    return n;
  long x = 0;
  weft::task_group group;
  group.spawn([&x, n] { x = fib_spawn(n - 1); });
  const long y = fib_spawn(n - 2);
  group.wait();
  return x + y;
}

long fib_join(long n) {
  if (n < 2)
    return n;
  long x = 0, y = 0;
  weft::join([&x, n] { x = fib_join(n - 1); }, [&y, n] { y = fib_join(n - 2); });
  return x + y;
}

/// Runs two tasks in strict alternation: the other task ends each of the n suspensions.
void suspend(long n) {
  std::atomic<weft::detail::task *> second{nullptr};
  weft::task_ref first;
  const long rounds = n / 2;
  weft::spawn([&second, &first, rounds] {
    second = weft::this_task::self().get();
    for (long i = 0; i < rounds; ++i) {
      weft::this_task::block();
      weft::unblock(first);
    }
  });
  weft::spawn([&second, &first, rounds] {
    first = weft::this_task::self();
    while (!second)
      weft::taskyield();
    const weft::task_ref other(second);
    for (long i = 0; i < rounds; ++i) {
      weft::unblock(other);
      weft::this_task::block();
    }
  });
  weft::taskwait();
}

void yield(long n) {
  for (int i = 0; i < 2; ++i)
    weft::spawn([n] {
      for (long k = 0; k < n / 2; ++k)
        weft::taskyield();
    });
  weft::taskwait();
}

/// Runs tasks that block once, in batches: the last task to arrive unblocks the others. A batch
/// fits into the stack cache.
constexpr int k_batch = 33;
void create_join(long n) {
  for (long done = 0; done < n; done += k_batch - 1) {
    std::atomic<int> arrived{0};
    weft::task_ref waiting[k_batch];
    std::atomic<bool> entered[k_batch] = {};
    for (int i = 0; i < k_batch; ++i)
      weft::spawn([&arrived, &waiting, &entered] {
        const int place = arrived++;
        if (place < k_batch - 1) {
          waiting[place] = weft::this_task::self();
          entered[place] = true;
          weft::this_task::block();
          return;
        }
        for (int k = 0; k < k_batch - 1; ++k) {
          while (!entered[k])
            std::this_thread::yield();
          weft::unblock(waiting[k]);
        }
      });
    weft::taskwait();
  }
}

/// Returns a line of /proc/self/status in bytes.
double status_bytes(const char *key) {
  std::FILE *file = std::fopen("/proc/self/status", "r");
  char line[256];
  double kib = 0;
  while (file && std::fgets(line, sizeof line, file))
    if (std::strncmp(line, key, std::strlen(key)) == 0)
      kib = std::atof(line + std::strlen(key));
  if (file)
    std::fclose(file);
  sample::require(kib > 0, "/proc/self/status lacks a line");
  return kib * 1024;
}

double measure_independent(const sample::request &r) {
  const double before = status_bytes("VmHWM:");
  independent(sample::k_warm_up, 0);
  std::vector<double> ran;
  for (int i = 0; i < r.workers; ++i)
    ran.push_back(-static_cast<double>(weft::executed_by(i)));
  const double ns = sample::time_ns([&] { independent(r.count, r.body_ns); });
  for (int i = 0; i < r.workers; ++i)
    ran[static_cast<std::size_t>(i)] += static_cast<double>(weft::executed_by(i));
  if (r.body_ns == 0)
    sample::print("growth_mib", (status_bytes("VmHWM:") - before) / (1 << 20));
  else
    sample::print("least_share_percent",
                  100 * *std::min_element(ran.begin(), ran.end()) / static_cast<double>(r.count));
  return ns / static_cast<double>(r.count);
}

/// Creates tasks on distinct addresses that no worker runs: the only worker creates them.
void measure_memory(const sample::request &r) {
  std::vector<char> data(static_cast<std::size_t>(r.count), 1);
  independent(sample::k_warm_up, 0);
  const double before = status_bytes("VmRSS:");
  for (char &c : data)
    weft::spawn([] {}, weft::inout(c));
  sample::print("bytes", (status_bytes("VmRSS:") - before) / static_cast<double>(r.count));
  weft::taskwait();
}

/// Runs no tasks: as many plain threads as workers, each with a fixed amount of arithmetic. It
/// shows how much any program suffers from its neighbours.
double measure_plain(const sample::request &r) {
  const auto arithmetic = [&r] {
    volatile unsigned sink = 1;
    for (long i = 0; i < r.count; ++i)
      sink = sink * 1664525u + 1013904223u;
  };
  return sample::time_ns([&] {
           std::vector<std::thread> threads;
           for (int i = 0; i < r.workers; ++i)
             threads.emplace_back(arithmetic);
           for (std::thread &t : threads)
             t.join();
         }) /
         static_cast<double>(r.count);
}

template <class Work>
double fib_ns(Work fib, long n) {
  fib(sample::k_warm_up_fib);
  long value = 0;
  const double ns = sample::time_ns([&] { value = fib(n); });
  sample::require(value == sample::fib(n), "fib");
  return ns / static_cast<double>(sample::fib_tasks(n));
}

/// Returns ns per task of f, which runs `tasks` of them.
template <class F>
double per_task(double tasks, F f) {
  return sample::time_ns(f) / tasks;
}

double measure(const sample::request &r) {
  const double n = static_cast<double>(r.count);
  if (r.workload == "plain-threads")
    return measure_plain(r);
  weft::configure("workers", std::to_string(r.workers).c_str());
  weft::start();
  if (r.workload == "independent")
    return measure_independent(r);
  independent(sample::k_warm_up, 0);
  if (r.workload == "chain") {
    chain(sample::k_warm_up, 0);
    return per_task(n, [&] { chain(r.count, r.body_ns); });
  }
  if (r.workload == "c-chain")
    return per_task(n, [&] { c_chain(r.count, r.body_ns); });
  if (r.workload == "region-chain")
    return per_task(n, [&] { region_chain(r.count, 1, r.body_ns); });
  if (r.workload == "region-tiles")
    return per_task(n, [&] { region_chain(r.count, 64, r.body_ns); });
  if (r.workload == "reduce")
    return per_task(n, [&] { reduce(r.count); });
  if (r.workload == "dot")
    return per_task(n, [&] { dot(r.count); });
  if (r.workload == "concurrent")
    return per_task(n, [&] { concurrently(r.count, r.body_ns); });
  if (r.workload == "commutative")
    return per_task(n, [&] { commuting(r.count, r.body_ns); });
  if (r.workload == "iterate-chain")
    return per_task(n, [&] { iterate_chain(r.count, r.body_ns); });
  if (r.workload == "iterate-independent")
    return per_task(n, [&] { iterate_independent(r.count, r.body_ns); });
  if (r.workload == "iterate-stencil")
    return per_task(n, [&] { iterate_stencil(r.count, r.body_ns); });
  if (r.workload == "two-wave") {
    std::vector<char> a(static_cast<std::size_t>(r.count)), b(a.size());
    return per_task(2 * n, [&] { two_wave(r.count, a.data(), b.data(), r.body_ns); });
  }
  if (r.workload == "wavefront")
    return per_task(n * sample::k_side * sample::k_side, [&] { wavefront(r.count, r.body_ns); });
  if (r.workload == "coroutine-child")
    return per_task(n, [&] { coroutine_child(r.count); });
  if (r.workload == "coroutine-turns")
    return per_task(n, [&] { coroutine_turns(r.count); });
  if (r.workload == "coroutine-suspend")
    return per_task(n, [&] { coroutine_suspend(r.count); });
  if (r.workload == "group-spawn")
    return per_task(n, [&] { group_spawn(r.count, r.body_ns); });
  if (r.workload == "async-get")
    return per_task(n, [&] { async_get(r.count); });
  if (r.workload == "set-get")
    return per_task(n, [&] { set_get(r.count); });
  if (r.workload == "then-chain")
    return per_task(n, [&] { then_chain(r.count); });
  if (r.workload == "when-all")
    return per_task(n, [&] { when_all(r.count); });
  if (r.workload == "fib-spawn")
    return fib_ns(fib_spawn, r.count);
  if (r.workload == "fib-join")
    return fib_ns(fib_join, r.count);
  if (r.workload == "suspend") {
    suspend(sample::k_warm_up);
    return per_task(n, [&] { suspend(r.count); });
  }
  if (r.workload == "yield") {
    yield(sample::k_warm_up);
    return per_task(n, [&] { yield(r.count); });
  }
  if (r.workload == "create-join") {
    create_join(sample::k_warm_up);
    return per_task(n, [&] { create_join(r.count); });
  }
  if (r.workload == "metg") {
    stencil(sample::k_warm_up, 0);
    return sample::metg(r.workers, stencil);
  }
  sample::refuse(r);
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  if (r.workload == "memory") {
    weft::configure("workers", "1");
    weft::configure("throttle.bytes", "off");
    measure_memory(r);
  } else {
    sample::print("ns", measure(r));
  }
}

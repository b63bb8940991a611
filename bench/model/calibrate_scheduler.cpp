// SPDX-License-Identifier: Apache-2.0
#include "calibrate_scheduler.hpp"

#include "../micro/scheduler_parts.hpp"
#include "../peers/sample.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

using scheduler_model::lock_mode;
using namespace scheduler_parts;
using weft::rt::now_ns;

constexpr int k_rounds = 61; // of real workers, of which the median and the least are shown
constexpr int k_short_rounds = 200; // so short that one of them is undisturbed
constexpr long k_items = 1000;

/// Returns the least time of some rounds of an operation, each of which counts from a new begin.
template <class Begin, class Operation>
double least_ns(Begin begin, Operation operation, long items = k_items) {
  double best = 1e18;
  for (int round = 0; round < k_short_rounds; ++round) {
    auto state = begin();
    const std::uint64_t from = now_ns();
    for (long i = 0; i < items; ++i)
      operation(*state);
    best = std::min(best, static_cast<double>(now_ns() - from) / static_cast<double>(items));
  }
  return best;
}

/// Is a body that has so many steps, each of which waits for the one before. It looks at no clock, so
/// that a worker without a processor does not get on.
void compute(long steps) noexcept {
  static thread_local std::uint64_t x = 1;
  std::uint64_t y = x;
  for (long i = 0; i < steps; ++i)
    y = y * 6364136223846793005u + 1442695040888963407u;
  x = y;
}

template <class Bench>
std::unique_ptr<Bench> full_queue(long items, int workers) {
  auto bench = std::make_unique<Bench>(items, workers);
  for (long i = 1; i <= items; ++i)
    bench->queue().push(i);
  return bench;
}

template <class Bench>
double get_alone_ns() {
  return least_ns([] { return full_queue<Bench>(k_items, 2); },
                  [](Bench &of) { sample::require(of.get(0) != 0, "an item"); });
}

/// Is a run of real workers: the time per item until all have been taken and computed.
template <class Bench>
double real_ns(int workers, int queues, long items, long steps) {
  std::vector<std::unique_ptr<Bench>> all;
  for (int q = 0; q < queues; ++q)
    all.push_back(full_queue<Bench>(items / queues, workers));
  std::atomic<long> taken{0};
  std::atomic<std::uint64_t> first{~std::uint64_t(0)}, last{0}; // without the making of threads
  on_threads(workers, [&](int worker) {
    Bench &own = *all[static_cast<std::size_t>(worker % queues)];
    long mine = 0;
    const std::uint64_t begin = now_ns();
    while (own.get(worker)) {
      compute(steps);
      ++mine;
    }
    const std::uint64_t end = now_ns();
    for (std::uint64_t seen = first; begin < seen && !first.compare_exchange_weak(seen, begin);) {
    }
    for (std::uint64_t seen = last; end > seen && !last.compare_exchange_weak(seen, end);) {
    }
    taken += mine;
  });
  sample::require(taken == items, "every item is taken once");
  return static_cast<double>(last - first) / static_cast<double>(items);
}

double real_ns(lock_mode mode, int workers, long items, long steps) {
  return mode == lock_mode::plain
             ? real_ns<ticket_bench>(workers, 1, items, steps)
             : real_ns<delegation_bench>(workers, mode == lock_mode::per_node ? workers : 1, items, steps);
}

} // namespace

scheduler_model::parameters scheduler_costs(double throw_ns) {
  using weft::rt::ticket_lock;
  scheduler_model::parameters costs;
  costs.line = throw_ns / 2; // the thrower takes it from the thread that polls, which fetches it again
  costs.far = 3 * costs.line;
  const double locked = least_ns([] { return std::make_unique<ticket_lock<>>(2); },
                                 [](ticket_lock<> &of) { of.lock(), of.unlock(); });
  const double exchanged = least_ns([] { return std::make_unique<std::atomic<std::uint32_t>>(0); },
                                    [](std::atomic<std::uint32_t> &of) { of.exchange(1); });
  costs.turn = std::min(exchanged, locked);
  costs.ticket = locked - costs.turn;
  const double plain = get_alone_ns<ticket_bench>(), delegated = get_alone_ns<delegation_bench>();
  costs.take = std::max(plain - locked, 0.0);
  costs.publish = std::max(delegated - plain, 0.0);
  return costs;
}

void print_scheduler_costs(const scheduler_model::parameters &costs) {
  const auto line = [](const char *name, double ns, const char *how) {
    std::printf("%-8s = %-8.1f # %s\n", name, ns, how);
  };
  std::puts("# Costs in nanoseconds, least of several rounds, written by weft-manager-calibrate --scheduler.");
  line("line", costs.line, "half of what a word takes to a thread on another core that polls it: two lines");
  line("far", costs.far, "assumed, not measured: three times that");
  line("ticket", costs.ticket, "a ticket lock is taken and given up, without the turn");
  line("turn", costs.turn, "an exchange");
  line("take", costs.take, "what an item from a queue adds to the ticket lock");
  line("publish", costs.publish, "what the owner of a delegation lock does beside");
}

void compare_scheduler(const scheduler_model::parameters &costs) {
  std::puts("lock,workers,body_ns,median_ns,least_ns,predicted_ns,off_the_median_percent,off_the_least_percent");
  for (const long steps : {200L, 1000L, 4000L}) {
    const long items = 2'000'000 / steps;
    const double body = least_ns([] { return std::make_unique<int>(0); }, [steps](int &) { compute(steps); },
                                 200'000 / steps);
    for (const lock_mode mode : {lock_mode::plain, lock_mode::combining, lock_mode::per_node})
      for (const int workers : {1, 2}) {
        if (mode == lock_mode::per_node && workers == 1)
          continue; // the same as combining
        scheduler_model::parameters p = costs;
        p.mode = mode;
        p.workers = static_cast<unsigned>(workers);
        p.nodes = mode == lock_mode::per_node ? p.workers : 1;
        p.body = body;
        p.jitter = 0;
        p.items = static_cast<double>(items);
        if (mode == lock_mode::plain)
          p.publish = 0; // the sample's plain queue has no counts
        const double predicted = simulate(p).time_ns / p.items;
        std::vector<double> seen;
        for (int round = 0; round < k_rounds; ++round)
          seen.push_back(real_ns(mode, workers, items, steps));
        std::sort(seen.begin(), seen.end());
        const double middle = seen[seen.size() / 2];
        std::printf("%s,%d,%.0f,%.1f,%.1f,%.1f,%.1f,%.1f\n", std::string(name_of(mode)).c_str(), workers,
                    body, middle, seen.front(), predicted, 100 * (predicted / middle - 1),
                    100 * (predicted / seen.front() - 1));
      }
  }
}

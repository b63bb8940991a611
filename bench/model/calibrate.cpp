// SPDX-License-Identifier: Apache-2.0
// weft-manager-calibrate: measures what the actions of the runtime cost on this machine, for
// weft-manager-model. With `--contention N,...` it measures how long N threads take to get a graph
// that has a lock, and one that has none; with `--scheduler`, what the delegated scheduler's lock
// costs, for weft-scheduler-model; with `--scheduler-compare` that, and the model beside real workers.
#include "calibrate_scheduler.hpp"

#include "base/clock.hpp"
#include "mem/slab.hpp"
#include "queue/spin_lock.hpp"
#include "queue/spsc_queue.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

constexpr int k_rounds = 15, k_tasks = 2000, k_operations = 20000;

/// Returns the least of some rounds, per operation: a disturbance only adds time.
template <class Round>
double least_ns(int operations, Round round) {
  double best = 1e18;
  for (int i = 0; i < k_rounds; ++i)
    best = std::min(best, round());
  return best / operations;
}

struct phases {
  double create_ns, run_ns; // per task
};

enum class each_has { no_access, one_access };

/// Creates tasks while no worker runs them; then runs them. Their accesses are to data of their own.
phases of_tasks(each_has what) {
  static std::vector<int> data(k_tasks);
  phases p{1e18, 1e18};
  for (int i = 0; i < k_rounds; ++i) {
    const std::uint64_t begin = now_ns();
    for (int &x : data)
      if (what == each_has::one_access)
        weft::spawn([] {}, weft::inout(x));
      else
        weft::spawn([] {});
    const std::uint64_t middle = now_ns();
    weft::taskwait();
    p.create_ns = std::min(p.create_ns, static_cast<double>(middle - begin) / k_tasks);
    p.run_ns = std::min(p.run_ns, static_cast<double>(now_ns() - middle) / k_tasks);
  }
  return p;
}

double of_freeing() {
  heap &h = heap_of_slot(2000); // no worker's slot
  std::vector<void *> blocks(k_tasks);
  return least_ns(k_tasks, [&] {
    for (void *&b : blocks)
      b = h.allocate(192);
    const std::uint64_t begin = now_ns();
    for (void *b : blocks)
      heap::deallocate(b, &h);
    return static_cast<double>(now_ns() - begin);
  });
}

double of_locking() {
  static spin_lock<> lock;
  return least_ns(k_operations, [] {
    const std::uint64_t begin = now_ns();
    for (int i = 0; i < k_operations; ++i) {
      lock.lock();
      lock.unlock();
    }
    return static_cast<double>(now_ns() - begin);
  });
}

phases of_messages() {
  static spsc_queue<void *> queue(1024);
  phases p{1e18, 1e18};
  void *item = nullptr;
  for (int round = 0; round < 10 * k_rounds; ++round) {
    const std::uint64_t begin = now_ns();
    for (int i = 0; i < 1000; ++i)
      static_cast<void>(queue.push(&queue));
    const std::uint64_t middle = now_ns();
    for (int i = 0; i < 1000; ++i)
      static_cast<void>(queue.pop(item));
    p.create_ns = std::min(p.create_ns, static_cast<double>(middle - begin) / 1000);
    p.run_ns = std::min(p.run_ns, static_cast<double>(now_ns() - middle) / 1000);
  }
  return p;
}

/// Returns half of the time in which a line goes to another core and back, together with `more`
/// lines that both sides read and write.
double of_moving(std::size_t more) {
  struct alignas(128) line {
    std::uint64_t word;
  };
  alignas(128) static std::atomic<int> ball{0};
  static line lines[4];
  std::atomic<bool> over{false};
  const auto touch = [more] {
    for (std::size_t i = 0; i < more; ++i)
      ++lines[i].word;
  };
  std::thread other([&] {
    while (!over.load(std::memory_order_relaxed)) {
      if (ball.load(std::memory_order_acquire) % 2 == 1) {
        touch();
        ball.fetch_add(1, std::memory_order_release);
      }
    }
  });
  constexpr int k_throws = 1000;
  const double ns = least_ns(2 * k_throws, [&] {
    const std::uint64_t begin = now_ns();
    for (int i = 0; i < k_throws; ++i) {
      touch();
      ball.fetch_add(1, std::memory_order_release);
      while (ball.load(std::memory_order_acquire) % 2 == 1)
        cpu_pause();
    }
    return static_cast<double>(now_ns() - begin);
  });
  over = true;
  other.join();
  return ns;
}

/// Returns the time from the store until the thread that slept on it runs.
double of_waking() {
  static std::atomic<std::uint32_t> ping{0}, pong{0};
  constexpr int k_times = 200;
  std::thread other([] {
    for (std::uint32_t i = 1; i <= k_rounds * k_times; ++i) {
      while (ping.load() < i)
        os_futex_wait(ping, i - 1, 0);
      pong.store(i);
      os_futex_wake(pong, 1);
    }
  });
  std::uint32_t turn = 0;
  const double ns = least_ns(2 * k_times, [&] {
    const std::uint64_t begin = now_ns();
    for (int i = 0; i < k_times; ++i) {
      ping.store(++turn);
      os_futex_wake(ping, 1);
      while (pong.load() < turn)
        os_futex_wait(pong, turn - 1, 0);
    }
    return static_cast<double>(now_ns() - begin);
  });
  other.join();
  return ns;
}

/// Returns the mean time of `operation` when each of `threads` does it at once, in the best round.
template <class Operation>
double at_once(int threads, Operation operation) {
  double best = 1e18;
  for (int round = 0; round < k_rounds; ++round) {
    std::atomic<int> ready{0};
    std::atomic<std::uint64_t> sum{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&] {
        ready.fetch_add(1);
        while (ready.load() < threads)
          cpu_pause();
        const std::uint64_t begin = now_ns();
        for (int k = 0; k < k_operations; ++k)
          operation();
        sum.fetch_add(now_ns() - begin);
      });
    for (std::thread &t : all)
      t.join();
    best = std::min(best, static_cast<double>(sum.load()) / threads / k_operations);
  }
  return best;
}

/// Measures figure 5.6: a lock that guards three words, as a graph's lock does, and a
/// compare-exchange on one of them, as an access needs.
int show_contention(const char *list) {
  std::puts("threads,lock_ns,exchange_ns");
  for (const char *at = list; *at;) {
    char *end = nullptr;
    const long threads = std::strtol(at, &end, 10);
    if (end == at || threads < 1 || threads > 1024 || (*end && *end != ',')) {
      std::fprintf(
          stderr,
          "weft-manager-calibrate: --contention wants numbers of threads from 1 to 1024, not '%s'\n",
          list);
      return 2;
    }
    alignas(128) static spin_lock<> lock;
    alignas(128) static volatile std::uint64_t words[3];
    alignas(128) static std::atomic<std::uint32_t> word{0};
    const double locked = at_once(static_cast<int>(threads), [] {
      lock.lock();
      for (volatile std::uint64_t &w : words)
        w = w + 1;
      lock.unlock();
    });
    const double exchanged = at_once(static_cast<int>(threads), [] {
      std::uint32_t before = word.load(std::memory_order_acquire);
      while (!word.compare_exchange_weak(before, before + 1, std::memory_order_release,
                                         std::memory_order_acquire))
        ;
    });
    std::printf("%ld,%.1f,%.1f\n", threads, locked, exchanged);
    at = *end ? end + 1 : end;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::strcmp(argv[1], "--contention") == 0)
    return show_contention(argv[2]);
  const bool compares = argc == 2 && std::strcmp(argv[1], "--scheduler-compare") == 0;
  if (compares || (argc == 2 && std::strcmp(argv[1], "--scheduler") == 0)) {
    const scheduler_model::parameters costs = scheduler_costs(of_moving(0));
    print_scheduler_costs(costs);
    if (compares)
      compare_scheduler(costs);
    return 0;
  }
  if (argc > 1) {
    std::fputs("usage: weft-manager-calibrate [--contention N,... | --scheduler | --scheduler-compare]\n",
               stderr);
    return 2;
  }
  weft::configure("workers", "1"); // no worker takes a task while they are created
  const phases plain = of_tasks(each_has::no_access), ordered = of_tasks(each_has::one_access),
               messages = of_messages();
  const double freeing = of_freeing(), moving = of_moving(0), with_three = of_moving(3);
  const auto line = [](const char *name, double ns, const char *how) {
    std::printf("%-10s = %-8.1f # %s\n", name, std::max(ns, 0.0), how);
  };
  std::puts("# Costs in nanoseconds, least of several rounds, written by weft-manager-calibrate.");
  line("create", plain.create_ns, "spawn without accesses, on one worker");
  line("submit", ordered.create_ns - plain.create_ns, "what an inout access adds to the spawn");
  line("done", ordered.run_ns - plain.run_ns, "what it adds to running and ending the task");
  line("remove", freeing, "a block of 192 bytes is freed by its owner");
  line("schedule", plain.run_ns - freeing,
       "an empty task is taken, run and ended, without the freeing");
  line("lock", of_locking(), "spin lock, taken and given up");
  line("push", messages.create_ns, "into an SPSC queue");
  line("pop", messages.run_ns, "out of it");
  line("poll", moving, "a line is read that another core wrote");
  line("transfer", with_three - moving,
       "three more lines go with it, asked for at once: task, access, predecessor");
  line("steal", 2 * moving, "two such lines: the victim's index and the item");
  line("wake", of_waking(), "from a store to the thread that slept on it in the kernel");
}

// SPDX-License-Identifier: Apache-2.0
// Measures the parts of the delegated scheduler alone: the cost to get a ready item from a queue
// under a lock, and to add one to it. It has the same protocol as the runtimes' samples:
//
//     scheduler_sample get-ticket|get-delegation|add-serial|add-spsc|ask-ticket|ask-delegation WORKERS COUNT [BODY_NS]
//
// get: all workers take from a full queue; `ns` is the time per item. add: one worker adds, the
// others take; `ns` is the producer's time per item. ask: all workers ask the delegated scheduler's
// queue for an item, compute, and add one; `ns` is the processor time per item without the body,
// `sleeps_per_100` how often a thread slept in the kernel during 100 items.
#include "../peers/sample.hpp"

#include "scheduler_parts.hpp"

#include "sched/delegated_queue.hpp"

#include <atomic>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace scheduler_parts;

template <class Bench>
double get_ns(const sample::request &r) {
  Bench bench(r.count, r.workers);
  for (long i = 1; i <= r.count; ++i)
    bench.queue().push(i);
  std::atomic<long> taken{0};
  const double ns = sample::time_ns([&] {
    on_threads(r.workers, [&](int worker) {
      long mine = 0;
      while (bench.get(worker))
        ++mine;
      taken += mine;
    });
  });
  sample::require(taken == r.count, "every item is taken once");
  return ns / static_cast<double>(r.count);
}

double add_ns(const sample::request &r, void (delegation_bench::*add)(long)) {
  delegation_bench bench(r.count, r.workers);
  std::atomic<long> taken{0};
  double ns = 0;
  on_threads(r.workers, [&](int worker) {
    if (worker == 0)
      ns = sample::time_ns([&] {
        for (long i = 1; i <= r.count; ++i)
          (bench.*add)(i);
      });
    else
      while (taken < r.count)
        if (bench.get(worker))
          ++taken;
  });
  return ns / static_cast<double>(r.count);
}

/// Is a plain ready queue behind delegated_queue.
struct served_items {
  struct wish {};
  std::vector<long> items = std::vector<long>(1 << 12);
  std::size_t head = 0, tail = 0;
  void add(long item, unsigned) noexcept { items[tail++ % items.size()] = item; }
  long serve(unsigned, wish) noexcept { return head == tail ? 0 : items[head++ % items.size()]; }
  [[nodiscard]] std::size_t size() const noexcept { return tail - head; }
};

struct spent {
  double cpu_ns, sleeps;
};
spent spent_now() {
  rusage all{};
  getrusage(RUSAGE_SELF, &all);
  const auto ns = [](const timeval &t) {
    return 1e9 * static_cast<double>(t.tv_sec) + 1e3 * static_cast<double>(t.tv_usec);
  };
  return {ns(all.ru_utime) + ns(all.ru_stime), static_cast<double>(all.ru_nvcsw)};
}

/// Two items for each worker are under way, as chains of tasks are.
void ask(const sample::request &r, bool delegates) {
  const auto workers = static_cast<std::size_t>(r.workers);
  weft::rt::delegated_queue<long, served_items, served_items::wish> queue(workers, 100, workers,
                                                                         delegates);
  for (long i = 1; i <= 2 * r.workers; ++i)
    queue.add(i, static_cast<std::size_t>(i) % workers, 0);
  std::atomic<long> left{r.count};
  const spent before = spent_now();
  on_threads(r.workers, [&](int worker) {
    const auto id = static_cast<unsigned>(worker);
    while (left.load(std::memory_order_relaxed) > 0) {
      const long item = queue.ask(id, {});
      if (!item) {
        std::this_thread::yield();
        continue;
      }
      sample::work(r.body_ns);
      left.fetch_sub(1, std::memory_order_relaxed);
      queue.add(item, id, id);
    }
  });
  const spent after = spent_now();
  const auto count = static_cast<double>(r.count);
  sample::print("ns", (after.cpu_ns - before.cpu_ns) / count - static_cast<double>(r.body_ns));
  sample::print("sleeps_per_100", 100 * (after.sleeps - before.sleeps) / count);
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  if (r.workload == "get-ticket")
    sample::print("ns", get_ns<ticket_bench>(r));
  else if (r.workload == "get-delegation")
    sample::print("ns", get_ns<delegation_bench>(r));
  else if (r.workload == "add-serial")
    sample::print("ns", add_ns(r, &delegation_bench::add_serially));
  else if (r.workload == "add-spsc")
    sample::print("ns", add_ns(r, &delegation_bench::add_by_queue));
  else if (r.workload == "ask-ticket")
    ask(r, false);
  else if (r.workload == "ask-delegation")
    ask(r, true);
  else
    sample::refuse(r);
}

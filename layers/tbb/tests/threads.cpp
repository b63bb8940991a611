// SPDX-License-Identifier: Apache-2.0
// What a program sees of TBB's threads: enumerable_thread_specific, arenas, observers,
// global_control, tasks that are suspended and resumed, and how many kernel threads there are.
#include "door.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <tbb/combinable.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>

#include <pthread.h>
#include <sched.h>

namespace {

void thread_specific() {
  tbb::enumerable_thread_specific<long> by_thread(0L);
  tbb::enumerable_thread_specific<long, tbb::cache_aligned_allocator<long>,
                                  tbb::ets_key_per_instance>
      by_key(0L);
  tbb::combinable<long> combined([] { return 0L; });
  tbb::parallel_for(0, 20'000, [&](int i) {
    by_thread.local() += i;
    by_key.local() += i;
    combined.local() += i;
  });
  const long expected = 20'000L * 19'999 / 2;
  CHECK(by_thread.combine(std::plus<>()) == expected);
  CHECK(by_key.combine(std::plus<>()) == expected);
  CHECK(combined.combine(std::plus<>()) == expected);
}

// A thread has its own C++ variables, and its index in the arena is within the arena.
void identity() {
  static thread_local int slot = -1;
  std::atomic<int> wrong{0};
  const int most = tbb::this_task_arena::max_concurrency();
  for (int round = 0; round < 10; ++round)
    tbb::parallel_for(0, 2000, [&](int) {
      const int index = tbb::this_task_arena::current_thread_index();
      wrong += index < 0 || index >= most;
      slot = index;
      std::this_thread::yield();
      wrong += slot != tbb::this_task_arena::current_thread_index();
    });
  CHECK(wrong == 0);
}

void arenas() {
  std::atomic<int> done{0}, outside{0};
  tbb::task_arena small(2), nested(3, 1, tbb::task_arena::priority::high);
  small.execute([&] {
    tbb::parallel_for(0, 200, [&](int) {
      if (tbb::this_task_arena::current_thread_index() >= 2)
        ++outside;
      nested.execute([&] {
        tbb::parallel_for(0, 20, [&](int) {
          if (tbb::this_task_arena::current_thread_index() >= 3)
            ++outside;
          ++done;
        });
      });
    });
  });
  CHECK(done == 4000 && outside == 0);
  // A task of an arena in which no thread waits runs on a worker.
  std::atomic<bool> ran{false};
  std::thread::id where;
  nested.enqueue([&] {
    where = std::this_thread::get_id();
    ran = true;
  });
  while (!ran)
    std::this_thread::yield();
  CHECK(where != std::this_thread::get_id());
  // Isolation: the outer loop's iterations are not run inside the inner wait.
  static thread_local bool busy = false;
  std::atomic<int> mixed{0};
  tbb::parallel_for(0, 200, [&](int) {
    mixed += busy;
    busy = true;
    tbb::this_task_arena::isolate([] { tbb::parallel_for(0, 50, [](int) {}); });
    busy = false;
  });
  CHECK(mixed == 0);
}

class counting_observer : public tbb::task_scheduler_observer {
 public:
  explicit counting_observer(tbb::task_arena &a) : tbb::task_scheduler_observer(a) {
    observe(true);
  }
  ~counting_observer() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override { ++(is_worker ? worker_entries : entries); }
  void on_scheduler_exit(bool is_worker) override { ++(is_worker ? worker_exits : exits); }
  std::atomic<int> entries{0}, exits{0}, worker_entries{0}, worker_exits{0};
};

void observers() {
  tbb::task_arena arena(door::threads_asked());
  counting_observer seen(arena);
  std::atomic<int> workers_at_work{0};
  const auto first = std::this_thread::get_id();
  for (int round = 0; round < 50; ++round)
    arena.execute([&] {
      tbb::parallel_for(0, 100, [&](int) {
        workers_at_work += std::this_thread::get_id() != first;
        std::this_thread::yield();
      });
    });
  CHECK(seen.entries == 50);
  while (seen.worker_entries != seen.worker_exits || seen.exits != 50)
    std::this_thread::yield(); // the last workers leave after the loop
  CHECK(workers_at_work == 0 || seen.worker_entries > 0);
}

thread_local int t_cpu = -1; // to which the observer has pinned the thread

/// Pins each thread of an arena to one cpu while it is there, as programs do that place their data.
class pinning_observer : public tbb::task_scheduler_observer {
 public:
  explicit pinning_observer(tbb::task_arena &a) : tbb::task_scheduler_observer(a) {
    CPU_ZERO(&m_all);
    CHECK(sched_getaffinity(0, sizeof m_all, &m_all) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &m_all))
        m_cpus.push_back(cpu);
    observe(true);
  }
  ~pinning_observer() override { observe(false); }
  void on_scheduler_entry(bool) override {
    t_cpu = m_cpus[m_next++ % m_cpus.size()];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(t_cpu), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  void on_scheduler_exit(bool) override {
    CHECK(sched_setaffinity(0, sizeof m_all, &m_all) == 0);
    t_cpu = -1;
    ++exits;
  }
  std::atomic<int> exits{0};

 private:
  cpu_set_t m_all;
  std::vector<int> m_cpus;
  std::atomic<std::size_t> m_next{0};
};

/// Threads that an observer has pinned stay on their cpu, and say so, wherever they have yielded;
/// those that have left the arena may run on all cpus again.
void pinned_by_an_observer() {
  tbb::task_arena arena(door::threads_asked());
  std::atomic<int> unpinned{0}, elsewhere{0}, wrong_set{0};
  {
    pinning_observer pins(arena);
    for (int round = 0; round < 20; ++round)
      arena.execute([&] {
        tbb::parallel_for(0, 200, [&](int) {
          unpinned += t_cpu < 0;
          std::this_thread::yield();
          elsewhere += sched_getcpu() != t_cpu;
          cpu_set_t now;
          CPU_ZERO(&now);
          wrong_set += pthread_getaffinity_np(pthread_self(), sizeof now, &now) != 0 ||
                       CPU_COUNT(&now) != 1 ||
                       !CPU_ISSET(static_cast<std::size_t>(t_cpu), &now);
        });
      });
    CHECK(unpinned == 0);
    CHECK(elsewhere == 0);
    CHECK(wrong_set == 0);
    while (pins.exits < 20)
      std::this_thread::yield();
  }
  cpu_set_t now;
  CPU_ZERO(&now);
  CHECK(sched_getaffinity(0, sizeof now, &now) == 0);
  CHECK(CPU_COUNT(&now) == static_cast<int>(std::thread::hardware_concurrency()));
}

void limits() {
  std::mutex lock;
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, limit);
    CHECK(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) ==
          std::min(limit, static_cast<std::size_t>(door::threads_asked())));
    std::atomic<int> now{0}, most{0};
    tbb::parallel_for(0, 500, [&](int) {
      const int n = ++now;
      for (int m = most; n > m && !most.compare_exchange_weak(m, n);) {
      }
      std::this_thread::yield();
      --now;
    });
    CHECK(most >= 1);
  }
}

// A suspended task leaves its thread to others; another thread resumes it.
void resumable() {
  constexpr int k_tasks = 20;
  std::vector<tbb::task::suspend_point> points(k_tasks);
  std::atomic<int> suspended{0}, resumed{0};
  std::thread waker([&] {
    while (suspended != k_tasks)
      std::this_thread::yield();
    for (auto &point : points)
      tbb::task::resume(point);
  });
  tbb::task_group g;
  for (int i = 0; i < k_tasks; ++i)
    g.run([&, i] {
      tbb::task::suspend([&](tbb::task::suspend_point point) {
        points[static_cast<std::size_t>(i)] = point;
        ++suspended;
      });
      ++resumed;
    });
  g.wait();
  waker.join();
  CHECK(resumed == k_tasks);
}

// All threads that TBB has are at work at the same time, however few kernel threads there are.
void all_at_once() {
  const int threads = door::threads_asked();
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> here{0};
    tbb::parallel_for(
        0, threads,
        [&](int) {
          ++here;
          while (here < threads)
            std::this_thread::yield();
        },
        tbb::simple_partitioner());
    CHECK(here == threads);
  }
}

} // namespace

int main() {
  const auto threads = static_cast<std::size_t>(door::threads_asked());
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([] {
    thread_specific();
    identity();
    all_at_once();
    limits();
  });
  arenas();
  observers();
  pinned_by_an_observer();
  arena.execute(resumable);
  if (threads > 1)
    door::check_threads();
  // 16 arenas of 8 threads ask for more threads than there may be kernel threads.
  if (const char *const most = std::getenv("TEST_KERNEL_THREADS")) {
    tbb::global_control more(tbb::global_control::max_allowed_parallelism, 64);
    std::atomic<int> done{0};
    std::vector<std::unique_ptr<tbb::task_arena>> many;
    tbb::task_group groups[16];
    for (int i = 0; i < 16; ++i) {
      many.push_back(std::make_unique<tbb::task_arena>(8));
      many.back()->execute([&] {
        for (int j = 0; j < 100; ++j)
          groups[i].run([&] { ++done; });
      });
    }
    for (int i = 0; i < 16; ++i)
      many[static_cast<std::size_t>(i)]->execute([&] { groups[i].wait(); });
    CHECK(done == 1600);
    CHECK(door::count_kernel_threads().all <= std::atoi(most));
  }
  std::puts("threads: ok");
}

// SPDX-License-Identifier: Apache-2.0
// The common part of the samples of suite "glto". A sample supplies:
//
//     runtime(workers)      starts the runtime; its destructor ends it
//     assign(f)             calls f(number) on each thread, from the calling one, and waits
//     for_each_task(n, f)   calls f() in n tasks that the caller creates, and waits
//     nested(n, f)          divides n iterations among the threads, each of which divides n calls
//                           of f() among as many tasks or threads
//     loop(n, f)            divides a loop over n rows among the threads; calls f(row)
//     produce(f)            calls f() on a thread that may create tasks
//     tasks(n, f, before)   there: calls before(i), then creates a task that calls f(i), for each i
//                           below n; calls before(n), and waits
//     count(tree, node)     searches a tree, a task per node, and returns the number of nodes
#pragma once

#include "../peers/sample.hpp"
#include "gradient.hpp"
#include "hydro.hpp"
#include "uts.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <mutex>

#include <dlfcn.h>
#include <pthread.h>

namespace glto {

inline std::atomic<int> g_threads_made{0};

} // namespace glto

/// Counts the threads that runtimes make: it takes the place of the C library's function.
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*run)(void *), void *argument) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  ++glto::g_threads_made;
  return real(thread, attributes, run, argument);
}

namespace glto {

using sample::print;
using sample::time_ns;

/// Returns how many kernel threads the process has.
inline int kernel_threads() {
  int threads = 0;
  if (std::FILE *f = std::fopen("/proc/self/status", "r")) {
    char line[200];
    while (std::fgets(line, sizeof line, f))
      if (std::sscanf(line, "Threads: %d", &threads) == 1)
        break;
    std::fclose(f);
  }
  return threads;
}

/// Returns the processor time of the process, of all its threads.
inline double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Divides `n` iterations into `parts`; returns the first one of part `i`.
inline int begin_of(int n, int parts, int i) {
  return static_cast<int>(static_cast<long>(n) * i / parts);
}

template <class Runtime>
void measure_assign(Runtime &r, long rounds, int workers) {
  std::atomic<long> calls{0};
  const auto run = [&](long n) {
    for (; n > 0; --n)
      r.assign([&](int) { calls.fetch_add(1, std::memory_order_relaxed); });
  };
  run(100);
  calls = 0;
  print("ns", time_ns([&] { run(rounds); }) / static_cast<double>(rounds));
  sample::require(calls == rounds * workers, "assign");
}

template <class Runtime>
void measure_tasks(Runtime &r, long rounds) {
  constexpr long k_tasks = 4000;
  std::atomic<long> calls{0};
  const auto run = [&](long n) {
    for (; n > 0; --n)
      r.for_each_task(k_tasks, [&] { calls.fetch_add(1, std::memory_order_relaxed); });
  };
  run(2);
  calls = 0;
  print("ns", time_ns([&] { run(rounds); }) / static_cast<double>(rounds * k_tasks));
  sample::require(calls == rounds * k_tasks, "tasks");
}

/// Prints the time per round of n x n iterations, the kernel threads that were made for the
/// rounds, how many are there at most in a further round, and how many more are made in it.
template <class Runtime>
void measure_nested(Runtime &r, int n, long rounds) {
  std::atomic<long> calls{0};
  const auto run = [&](long times) {
    for (; times > 0; --times)
      r.nested(n, [&] { calls.fetch_add(1, std::memory_order_relaxed); });
  };
  run(1);
  const int made_at_first = g_threads_made;
  calls = 0;
  print("ns", time_ns([&] { run(rounds); }) / static_cast<double>(rounds));
  sample::require(calls == rounds * n * n, "nested");
  const int made_before = g_threads_made;
  std::mutex guard;
  int most = 0;
  long seen = 0;
  r.nested(n, [&] {
    const std::lock_guard here(guard);
    if (seen++ % n == 0)
      most = std::max(most, kernel_threads());
  });
  print("threads", most);
  print("made", made_at_first);
  print("made-again", g_threads_made - made_before);
}

template <class Runtime>
void measure_hydro(Runtime &r, int side, long steps) {
  hydro::box parallel(side), serial(side);
  const auto run_serially = [](int n, auto f) {
    for (int row = 0; row < n; ++row)
      f(row);
  };
  int loops = parallel.step([&](int n, auto f) { r.loop(n, f); });
  serial.step(run_serially);
  const double mass = parallel.mass(), energy = parallel.energy();
  print("ns", time_ns([&] {
                for (long i = 0; i < steps; ++i)
                  loops += parallel.step([&](int n, auto f) { r.loop(n, f); });
              }) / static_cast<double>(steps * hydro::k_loops));
  sample::require(loops == (steps + 1) * hydro::k_loops, "hydro: loops of a step");
  for (long i = 0; i < steps; ++i)
    serial.step(run_serially);
  sample::require(parallel.same_as(serial), "hydro: the serial result");
  sample::require(std::abs(parallel.mass() - mass) < 1e-9 * mass &&
                      std::abs(parallel.energy() - energy) < 1e-9 * energy,
                  "hydro: mass and energy stay");
}

/// Counts the tasks that were queued, as opposed to those that their creator runs at once.
class queued_tasks {
 public:
  void create(int i) {
    m_creating.store(i, std::memory_order_relaxed);
    m_creator.store(&t_mark, std::memory_order_relaxed);
  }
  void run(int i) {
    m_all.fetch_add(1, std::memory_order_relaxed);
    if (m_creating.load(std::memory_order_relaxed) == i &&
        m_creator.load(std::memory_order_relaxed) == &t_mark)
      m_at_once.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] double percent() const {
    return 100 - 100 * static_cast<double>(m_at_once) / static_cast<double>(m_all);
  }

 private:
  static inline thread_local char t_mark = 0;
  std::atomic<int> m_creating{-1};
  std::atomic<const char *> m_creator{nullptr};
  std::atomic<long> m_all{0}, m_at_once{0};
};

/// Creates tasks and counts those that are queued.
template <class Runtime, class F>
void count_tasks(Runtime &r, queued_tasks &queued, int n, F f) {
  r.tasks(
      n,
      [&](int i) {
        queued.run(i);
        f(i);
      },
      [&](int i) { queued.create(i); });
}

template <class Runtime>
void measure_gradient(Runtime &r, int rows_per_task, long iterations) {
  gradient::system parallel(rows_per_task), serial(rows_per_task);
  queued_tasks queued;
  double ns = 0;
  r.produce([&] {
    ns = time_ns([&] {
      for (long i = 0; i < iterations; ++i)
        parallel.iterate([&](int n, auto f) { r.tasks(n, f, [](int) {}); });
    });
    for (int i = 0; i < 5; ++i)
      parallel.iterate([&](int n, auto f) { count_tasks(r, queued, n, f); });
  });
  print("ns",
        ns / static_cast<double>(iterations * gradient::system::k_phases * parallel.blocks()));
  print("queued_percent", queued.percent());
  const double before = serial.residual();
  for (long i = 0; i < iterations + 5; ++i)
    serial.iterate([](int n, auto f) {
      for (int k = 0; k < n; ++k)
        f(k);
    });
  sample::require(parallel.same_as(serial), "gradient: the serial result");
  sample::require(serial.residual() < before, "gradient: the residual falls");
}

/// One thread creates 4,000 tasks of some 0.3 us.
template <class Runtime>
void measure_cutoff(Runtime &r, long rounds) {
  constexpr int k_tasks = 4000;
  std::vector<unsigned long> results(k_tasks);
  const auto value = [](int i) {
    unsigned long v = static_cast<unsigned long>(i) + 1;
    for (int k = 0; k < 200; ++k)
      v = (v ^ v >> 31) * 0x9E3779B97F4A7C15UL;
    return v;
  };
  const auto body = [&](int i) { results[static_cast<std::size_t>(i)] += value(i); };
  queued_tasks queued;
  double ns = 0;
  r.produce([&] {
    r.tasks(k_tasks, body, [](int) {});
    ns = time_ns([&] {
      for (long i = 0; i < rounds; ++i)
        r.tasks(k_tasks, body, [](int) {});
    });
    count_tasks(r, queued, k_tasks, body);
  });
  print("ns", ns / static_cast<double>(rounds * k_tasks));
  print("queued_percent", queued.percent());
  for (int i = 0; i < k_tasks; ++i)
    sample::require(results[static_cast<std::size_t>(i)] ==
                        static_cast<unsigned long>(rounds + 2) * value(i),
                    "cutoff");
}

/// Counts the nodes of a small tree.
inline long count_serially(const uts::tree &tree, const uts::node &node) {
  long nodes = 1;
  for (int i = 0, n = tree.children_of(node); i < n; ++i)
    nodes += count_serially(tree, uts::child_of(node, i));
  return nodes;
}

template <class Runtime>
void measure_uts(Runtime &r, const uts::tree &tree) {
  long nodes = 0;
  const double before = cpu_ns();
  const double ns = time_ns([&] { nodes = r.count(tree, tree.root()); });
  print("ns", ns / static_cast<double>(nodes));
  print("cpu_ns", (cpu_ns() - before) / static_cast<double>(nodes));
  const long known = tree.known_nodes();
  sample::require(nodes == (known ? known : count_serially(tree, tree.root())), "uts");
}

template <class Runtime>
int run(int argc, char **argv) {
  const sample::request q = sample::parse(argc, argv);
  Runtime r(q.workers);
  if (q.workload == "assign")
    measure_assign(r, q.count, q.workers);
  else if (q.workload == "tasks")
    measure_tasks(r, q.count);
  else if (q.workload == "nested-100")
    measure_nested(r, 100, q.count);
  else if (q.workload == "nested-1000")
    measure_nested(r, 1000, q.count);
  else if (q.workload.starts_with("hydro-"))
    measure_hydro(r, std::atoi(q.workload.data() + 6), q.count);
  else if (q.workload.starts_with("cg-"))
    measure_gradient(r, std::max(1, std::atoi(q.workload.data() + 3)), q.count);
  else if (q.workload == "cutoff")
    measure_cutoff(r, q.count);
  else if (q.workload == "uts-t1")
    measure_uts(r, {false, static_cast<int>(q.count)});
  else if (q.workload == "uts-t3")
    measure_uts(r, {true, static_cast<int>(q.count)});
  else
    sample::refuse(q);
  return 0;
}

} // namespace glto

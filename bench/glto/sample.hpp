// SPDX-License-Identifier: Apache-2.0
// The common part of the samples of suite "glto". A sample supplies:
//
//     runtime(workers)      starts the runtime; its destructor ends it
//     assign(f)             calls f(number) on each thread, from the calling one, and waits
//     for_each_task(n, f)   calls f() in n tasks that the caller creates, and waits
//     nested(n, f)          divides n iterations among the threads, each of which divides n calls
//                           of f() among as many tasks or threads
//     count(tree, node)     searches a tree, a task per node, and returns the number of nodes
#pragma once

#include "../peers/sample.hpp"
#include "uts.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <mutex>

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

/// Prints the time per round of n x n iterations, and in a further round the kernel threads.
template <class Runtime>
void measure_nested(Runtime &r, int n, long rounds) {
  std::atomic<long> calls{0};
  const auto run = [&](long times) {
    for (; times > 0; --times)
      r.nested(n, [&] { calls.fetch_add(1, std::memory_order_relaxed); });
  };
  run(1);
  calls = 0;
  print("ns", time_ns([&] { run(rounds); }) / static_cast<double>(rounds));
  sample::require(calls == rounds * n * n, "nested");
  std::mutex guard;
  int most = 0;
  long seen = 0;
  r.nested(n, [&] {
    const std::lock_guard here(guard);
    if (seen++ % n == 0)
      most = std::max(most, kernel_threads());
  });
  print("threads", most);
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
  else if (q.workload == "uts-t1")
    measure_uts(r, {false, static_cast<int>(q.count)});
  else if (q.workload == "uts-t3")
    measure_uts(r, {true, static_cast<int>(q.count)});
  else
    sample::refuse(q);
  return 0;
}

} // namespace glto

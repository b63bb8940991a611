// SPDX-License-Identifier: Apache-2.0
// The operations, each `n` times. A library has what its header in models/ defines:
//
//     call(workers, f)       calls f where tasks may wait
//     async(f)               returns what has get(): a future, or a result with its group
//     promise<T>             which gives a future
//     k_threads              whether async() may run beside its caller
//     add_one                what a continuation calls; when_all(vector)
//     mutex, latch, semaphore, and channel with push(v), pop(v)
//     yield()                lets the other task or fiber of the thread go on
#pragma once

#include "../../peers/sample.hpp"

#include <atomic>
#include <cstddef>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace rows {

template <class L>
void set_get(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    typename L::template promise<int> p;
    auto f = p.get_future();
    p.set_value(1);
    sum += f.get();
  }
  sample::require(sum == n, "set-get");
}

template <class L>
void async_get(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i)
    sum += L::async([] { return 1; }).get();
  sample::require(sum == n, "async-get");
}

/// Waits for calls that have begun on another thread.
template <class L>
void async_stolen(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    std::atomic<bool> begun{false};
    auto f = L::async([&begun] {
      begun.store(true, std::memory_order_relaxed);
      return 1;
    });
    while (!begun.load(std::memory_order_relaxed))
      std::this_thread::yield();
    sum += f.get();
  }
  sample::require(sum == n, "async-stolen");
}

template <class L>
void then_chain(long n) {
  typename L::template promise<long> p;
  auto f = p.get_future();
  for (long i = 0; i < n; ++i)
    f = f.then(typename L::add_one{});
  p.set_value(0);
  sample::require(f.get() == n, "then-chain");
}

/// Combines copies of a future that is not ready.
template <class L>
void when_all(long n) {
  typename L::template promise<long> p;
  typename L::template shared_future<long> f = p.get_future().share();
  std::vector<typename L::template shared_future<long>> inputs(static_cast<std::size_t>(n), f);
  auto all = L::when_all(inputs);
  p.set_value(0);
  sample::require(all.get().size() == static_cast<std::size_t>(n), "when-all");
}

template <class L>
void lock(long n) {
  typename L::mutex m;
  volatile long value = 0;
  for (long i = 0; i < n; ++i) {
    m.lock();
    value = value + 1;
    m.unlock();
  }
  sample::require(value == n, "mutex");
}

template <class L>
void acquire(long n) {
  typename L::semaphore s(1);
  for (long i = 0; i < n; ++i) {
    s.acquire();
    s.release();
  }
  sample::require(s.try_acquire() && !s.try_acquire(), "semaphore");
}

template <class L>
void count_down(long n) {
  for (long i = 0; i < n; ++i) {
    typename L::latch l(1);
    l.count_down();
    l.wait();
  }
}

/// Passes numbers from one task, or thread, to another.
template <class L>
void pass(long n) {
  typename L::channel c(64);
  auto producer = L::async([&c, n] {
    for (long i = 1; i <= n; ++i)
      c.push(i);
    return 0;
  });
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    long v = 0;
    c.pop(v);
    sum += v;
  }
  sample::require(producer.get() == 0 && sum == n * (n + 1) / 2, "channel");
}

/// Two tasks, or fibers, let each other go on in turns.
template <class L>
void turns(long n) {
  auto other = L::async([n] {
    for (long i = 0; i < n / 2; ++i)
      L::yield();
    return 0;
  });
  for (long i = 0; i < n / 2; ++i)
    L::yield();
  sample::require(other.get() == 0, "yield");
}

/// Returns whether the library has the workload.
template <class L>
bool run(std::string_view workload, long n, int workers) {
  if constexpr (requires { typename L::template promise<int>; })
    if (workload == "set-get")
      return set_get<L>(n), true;
  if (workload == "async-get")
    return async_get<L>(n), true;
  if (workload == "async-stolen") {
    if (!L::k_threads || workers < 2)
      return false;
    return async_stolen<L>(n), true;
  }
  if constexpr (requires { typename L::mutex; })
    if (workload == "mutex")
      return lock<L>(n), true;
  if constexpr (requires { typename L::add_one; })
    if (workload == "then-chain")
      return then_chain<L>(n), true;
  if constexpr (requires { typename L::template shared_future<long>; })
    if (workload == "when-all")
      return when_all<L>(n), true;
  if constexpr (requires { typename L::latch; })
    if (workload == "latch")
      return count_down<L>(n), true;
  if constexpr (requires { typename L::semaphore; })
    if (workload == "semaphore")
      return acquire<L>(n), true;
  if constexpr (requires { typename L::channel; })
    if (workload == "channel")
      return pass<L>(n), true;
  if constexpr (requires { L::yield(); })
    if (workload == "yield")
      return turns<L>(n), true;
  return false;
}

} // namespace rows

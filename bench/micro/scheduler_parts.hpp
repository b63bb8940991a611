// SPDX-License-Identifier: Apache-2.0
// A queue of items behind a lock that each worker takes, and behind one whose owner serves the others.
#pragma once

#include "queue/delegation_lock.hpp"
#include "queue/spsc_queue.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace scheduler_parts {

using weft::rt::delegation;
using weft::rt::delegation_lock;
using weft::rt::spsc_queue;
using weft::rt::ticket_lock;

/// Is a plain first-in, first-out queue of all items, guarded by a lock.
class item_queue {
 public:
  explicit item_queue(long count) : m_items(static_cast<std::size_t>(count)) {}
  void push(long item) noexcept { m_items[m_tail++] = item; }
  bool empty() const noexcept { return m_head == m_tail; }
  long pop() noexcept { return empty() ? 0 : m_items[m_head++]; } // 0: empty

 private:
  std::vector<long> m_items;
  std::size_t m_head = 0, m_tail = 0;
};

/// Lets each consumer of an item take the lock in turn.
class ticket_bench {
 public:
  ticket_bench(long count, int workers)
      : m_queue(count), m_lock(static_cast<std::size_t>(workers)) {}
  item_queue &queue() noexcept { return m_queue; }
  long get(int) noexcept {
    m_lock.lock();
    const long item = m_queue.pop();
    m_lock.unlock();
    return item;
  }

 private:
  item_queue m_queue;
  ticket_lock<> m_lock;
};

/// Lets the owner of the lock take an item for itself and one for each waiter.
class delegation_bench {
 public:
  delegation_bench(long count, int workers)
      : m_queue(count), m_lock(static_cast<std::size_t>(workers)) {}
  item_queue &queue() noexcept { return m_queue; }
  void add_serially(long item) noexcept {
    m_lock.lock();
    m_queue.push(item);
    m_lock.unlock();
  }
  /// Adds an item; called by the one producer. When its queue is full, the producer empties it into
  /// the shared queue, or waits for a consumer to do so.
  void add_by_queue(long item) noexcept {
    while (!m_added.push(item))
      if (m_lock.try_lock()) {
        drain();
        m_lock.unlock();
      } else {
        weft::rt::cpu_pause();
      }
  }
  long get(int worker) noexcept {
    long item = 0;
    if (m_lock.lock_or_delegate(static_cast<std::size_t>(worker), item) == delegation::delegated)
      return item;
    drain();
    item = m_queue.pop();
    delegation_lock<long>::run waiters;
    while (!m_queue.empty() && m_lock.take_waiters(waiters)) { // else a waiter drains
      for (std::size_t i = 0; i != waiters.size(); ++i)
        m_lock.set_item(waiters, i, m_queue.pop());
      m_lock.dismiss(waiters);
    }
    m_lock.unlock(waiters);
    return item;
  }

 private:
  void drain() noexcept {
    m_added.consume_all([this](long item) { m_queue.push(item); });
  }
  item_queue m_queue;
  delegation_lock<long> m_lock;
  spsc_queue<long> m_added{100}; // the capacity of setting sched.spsc_capacity
};

/// Runs f(worker) on that many threads, which start together.
template <class F>
void on_threads(int workers, F f) {
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  const auto start = [&](int worker) {
    for (++arrived; arrived < workers;)
      std::this_thread::yield();
    f(worker);
  };
  for (int i = 1; i < workers; ++i)
    threads.emplace_back(start, i);
  start(0);
  for (std::thread &t : threads)
    t.join();
}

} // namespace scheduler_parts

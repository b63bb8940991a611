// SPDX-License-Identifier: Apache-2.0
#include "manage/lock_queues.hpp"

#include "manage/judge.hpp"

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace rt {

void lock_queues::begin() {
  m_waiters.clear();
  for (queue &q : m_queues)
    q.waiters = 0;
}

lock_queues::queue *lock_queues::queue_of(std::uintptr_t lock) {
  const auto at = std::find_if(m_queues.begin(), m_queues.end(), [lock](const queue &q) { return q.lock.address == lock; });
  return at == m_queues.end() ? nullptr : &*at;
}

void lock_queues::count(int tid, const thread_wait &w) {
  if (w.what != thread_wait::kind::lock)
    return;
  try {
    m_waiters.reserve(m_waiters.size() + 1);
    if (!queue_of(w.address))
      m_queues.push_back({w, {}, 0, 0, 0, true});
  } catch (const std::bad_alloc &) { // it gets a spare
    return;
  }
  m_waiters.push_back({tid, w.address});
  queue &q = *queue_of(w.address);
  q.lock = w;
  ++q.waiters;
}

/// A holder that runs, or waits for its CPU, or sleeps until a time comes, will let go by itself.
void lock_queues::look_at(queue &q, std::uint64_t now) {
  const lock_holder h = m_world.holder(q.lock);
  const std::uint64_t cpu_ns = h.tid != 0 ? m_world.cpu_ns(h.tid) : 0;
  const bool lives = cpu_ns != 0;
  if (q.since == 0 || h.free || h.tid != q.held.tid || cpu_ns != q.holder_cpu_ns || (lives && !m_world.sleeps(h.tid)) ||
      (lives && m_world.waits_for(h.tid).what == thread_wait::kind::clock))
    q.since = now;
  q.held = h;
  q.holder_cpu_ns = cpu_ns;
  q.passes = now - q.since < m_patience_ns;
}

/// A holder that waits for another of these locks passes on what it holds when it gets that; in a circle nobody does.
bool lock_queues::passes_on(const queue &q) {
  const queue *at = &q;
  for (std::size_t i = 0; i <= m_queues.size(); ++i) {
    const auto w = std::find_if(m_waiters.begin(), m_waiters.end(), [at](const waiter &one) { return one.tid == at->held.tid; });
    if (w == m_waiters.end())
      return at->passes;
    at = queue_of(w->lock);
  }
  return false;
}

unsigned lock_queues::needless(unsigned enough, std::uint64_t now) {
  std::erase_if(m_queues, [](const queue &q) { return q.waiters == 0; });
  for (queue &q : m_queues)
    look_at(q, now);
  unsigned n = 0;
  for (const queue &q : m_queues)
    if (q.waiters > enough && passes_on(q))
      n += q.waiters - enough;
  return n;
}

} // namespace rt
} // namespace weft::inline v0

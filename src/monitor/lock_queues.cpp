// SPDX-License-Identifier: Apache-2.0
#include "monitor/lock_queues.hpp"

#include "monitor/watched.hpp"

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace rt {

void lock_queues::begin() {
  for (queue &q : m_queues)
    q.waiters = 0;
}

lock_queues::queue *lock_queues::queue_of(std::uintptr_t lock) {
  const auto at = std::find_if(m_queues.begin(), m_queues.end(),
                               [lock](const queue &q) { return q.lock.address == lock; });
  return at == m_queues.end() ? nullptr : &*at;
}

void lock_queues::count(const thread_wait &wait) {
  if (wait.what != thread_wait::kind::lock)
    return;
  queue *q = queue_of(wait.address);
  try {
    if (!q)
      q = &m_queues.emplace_back();
  } catch (const std::bad_alloc &) { // the worker gets a spare
    return;
  }
  q->lock = wait;
  ++q->waiters;
}

/// Looks at the holder of a lock. One that runs, waits for its CPU, or sleeps until a given time
/// will release the lock by itself.
void lock_queues::look_at(queue &line, std::uint64_t now) {
  const lock_holder h = m_world.holder(line.lock);
  const std::uint64_t cpu_ns = h.tid != 0 ? m_world.cpu_ns(h.tid) : 0;
  const bool lives = cpu_ns != 0;
  line.holder_waits = lives ? m_world.waits_for(h.tid) : thread_wait{};
  if (line.since == 0 || h.free || h.tid != line.held.tid || cpu_ns != line.holder_cpu_ns ||
      line.holder_waits.what == thread_wait::kind::clock || (lives && !m_world.sleeps(h.tid)))
    line.since = now;
  line.held = h;
  line.holder_cpu_ns = cpu_ns;
}

/// Says whether the lock passes on. A holder that waits for another of these locks releases its own
/// when it gets the other one; in a cycle no holder does. A holder counts as waiting only if it has
/// not run between two looks, because the lock may have passed on while the watcher asked for it.
bool lock_queues::passes_on(const queue &line, std::uint64_t now) {
  const queue *at = &line;
  for (std::size_t i = 0; i <= m_queues.size(); ++i) {
    if (at->since == now)
      return true;
    const queue *const next = at->holder_waits.what == thread_wait::kind::lock
                                  ? queue_of(at->holder_waits.address)
                                  : nullptr;
    if (!next)
      return now - at->since < m_patience_ns;
    at = next;
  }
  return false;
}

unsigned lock_queues::needless(unsigned enough, std::uint64_t now) {
  std::erase_if(m_queues, [](const queue &q) { return q.waiters == 0; });
  for (queue &q : m_queues)
    look_at(q, now);
  unsigned n = 0;
  for (const queue &q : m_queues)
    if (q.waiters > enough && passes_on(q, now))
      n += q.waiters - enough;
  return n;
}

} // namespace rt
} // namespace weft::inline v0

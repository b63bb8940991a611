// SPDX-License-Identifier: Apache-2.0
// Memory of live tasks is counted in batches by the slabs; a producer above the limit is suspended as a frame and goes on
// at the low mark (three quarters), or when a worker has nothing else to run; then the limit is raised for a while, so that
// producer and idle workers do not take turns at every task.
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "deps/domain.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

void throttle::live_bytes_changed(std::int64_t live) {
  if (m_limit == 0)
    return;
  if (live <= low()) {
    m_now.store(m_limit, std::memory_order_relaxed);
    m_over.store(false, std::memory_order_relaxed);
    if (m_any.load(std::memory_order_acquire)) // O1: pairs with publish
      resume_all(m_limit);
  } else if (live > m_now.load(std::memory_order_relaxed)) {
    m_over.store(true, std::memory_order_relaxed);
  }
}

void throttle::publish(executor &, frame &f, void *self) {
  auto &t = *static_cast<throttle *>(self);
  t.m_lock.lock();
  t.m_held.push_back(&f);
  t.m_any.store(true, std::memory_order_seq_cst); // O1: before the counter is read again, against a decrease in between
  t.m_lock.unlock();
  if (live_bytes() <= t.low())
    t.resume_all(t.m_limit);
}

void throttle::hold_back(worker &w) {
  if (w.in_callback)
    return;
  w.memory->flush_accounting();
  trim_domain(*w.current);
  w.memory->flush_accounting();
  if (live_bytes() <= m_now.load(std::memory_order_relaxed)) {
    m_over.store(false, std::memory_order_relaxed);
    return;
  }
  count(w.counts.throttled);
  try {
    suspend(&publish, this);
  } catch (const error &) { // no stack for the worker to go on with: the producer goes on instead
  }
}

void throttle::resume_all(std::int64_t now_allowed) {
  m_lock.lock();
  intrusive_queue<runnable> held = std::move(m_held);
  m_any.store(false, std::memory_order_relaxed);
  m_now.store(now_allowed, std::memory_order_relaxed);
  m_over.store(false, std::memory_order_relaxed);
  m_lock.unlock();
  while (runnable *r = held.pop_front())
    make_ready(*static_cast<frame *>(r));
}

bool throttle::let_go() {
  if (!m_any.load(std::memory_order_acquire) || mutant(bug::throttle_keeps_producers)) // O1: pairs with publish
    return false;
  resume_all(live_bytes() + m_limit / 4);
  return true;
}

} // namespace rt
} // namespace weft::inline v0

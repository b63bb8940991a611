// SPDX-License-Identifier: Apache-2.0
// Memory of live tasks is counted in batches by the slabs; a producer above a mark is suspended as a frame and goes on
// at three quarters of the lowest mark, or when a worker has nothing else to run; then the marks are raised for a while, so that
// producer and idle workers do not take turns at every task.
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "deps/domain.hpp"
#include "worker/runtime.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

bool has_own_work(const worker &w) noexcept { return w.own.deque ? !w.own.deque->empty() : the_runtime().ready->has_work(); }

} // namespace

void throttle::live_bytes_changed(std::int64_t live) {
  if (m_limit == 0)
    return;
  if (live <= low()) {
    reset();
    if (m_any.load(std::memory_order_acquire)) // O1: pairs with publish
      resume_all();
  } else if (live > m_alarm.load(std::memory_order_relaxed)) {
    m_over.store(true, std::memory_order_relaxed);
  }
}

void throttle::publish(executor &, frame &f, void *self) {
  auto &t = *static_cast<throttle *>(self);
  t.m_lock.lock();
  t.m_held.push_back(&f);
  t.m_any.store(true, std::memory_order_seq_cst); // O1: before the counter is read again, against a decrease in between
  t.m_lock.unlock();
  if (live_bytes() <= t.low()) {
    t.reset();
    return t.resume_all();
  }
  the_runtime().idle.notify_one(); // a worker that found nothing just before lets it go
}

void throttle::hold_back(worker &w) {
  if (w.in_callback)
    return;
  w.memory->flush_accounting();
  trim_domain(*w.current, live_bytes() > m_now.load(std::memory_order_relaxed));
  w.memory->flush_accounting();
  const std::int64_t live = live_bytes();
  if (live <= m_alarm.load(std::memory_order_relaxed))
    return m_over.store(false, std::memory_order_relaxed);
  if (live <= m_now.load(std::memory_order_relaxed) && !has_own_work(w))
    return raise_alarm(live);
  count(w.counts->throttled);
  try {
    suspend(&publish, this);
  } catch (const error &) { // no stack for the worker to go on with: the producer goes on instead
  }
}

void throttle::reset() noexcept {
  m_now.store(m_limit, std::memory_order_relaxed);
  m_alarm.store(m_lowest, std::memory_order_relaxed);
  m_over.store(false, std::memory_order_relaxed);
}

void throttle::raise_alarm(std::int64_t live) noexcept {
  m_alarm.store(std::min(live + m_lowest / 4, m_now.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  m_over.store(false, std::memory_order_relaxed);
}

void throttle::resume_all() {
  m_lock.lock();
  intrusive_queue<runnable> held = std::move(m_held);
  m_any.store(false, std::memory_order_relaxed);
  m_lock.unlock();
  while (runnable *r = held.pop_front())
    make_ready(*static_cast<frame *>(r));
}

bool throttle::let_go() {
  if (!m_any.load(std::memory_order_acquire) || mutant(bug::throttle_keeps_producers)) // O1: pairs with publish
    return false;
  const std::int64_t live = live_bytes();
  if (live > m_limit)
    m_now.store(live + m_limit / 4, std::memory_order_relaxed);
  raise_alarm(live);
  resume_all();
  return true;
}

} // namespace rt
} // namespace weft::inline v0

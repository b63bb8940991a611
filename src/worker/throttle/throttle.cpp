// SPDX-License-Identifier: Apache-2.0
// The slabs count the memory of live tasks in batches; the policy says what is compared with the
// marks. A producer above a mark is suspended as a frame. It goes on at three quarters of the lowest
// mark, or when a worker has nothing else to run.
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "deps/domain.hpp"
#include "deps/registration.hpp"
#include "trace/session.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

bool has_own_work(const worker &w) noexcept {
  return w.own.deque ? !w.own.deque->empty() : the_runtime().ready->has_work();
}

} // namespace

std::int64_t throttled_world::level() noexcept {
  return the_runtime().producers.level(live_bytes());
}
void throttled_world::wake_one() noexcept { the_runtime().idle.notify_one(); }
void throttled_world::make_ready(runnable &producer) {
  rt::make_ready(static_cast<frame &>(producer));
}

std::int64_t throttle::level(std::int64_t live) const {
  return m_policy.load(std::memory_order_seq_cst)->level(the_runtime(), live); // O1
}

void throttle::follow(const throttle_policy &policy, const settings &now, unsigned workers) {
  // O1: before the marks, which are in its units
  m_policy.store(&policy, std::memory_order_seq_cst);
  set_limits(policy.marks(now, workers));
}

void throttle::hold_back(worker &w) {
  if (w.in_callback)
    return;
  if (checks_each_spawn()) {
    const std::int64_t live = level(live_bytes());
    unless(bug::throttle_check_reports_nothing,
           [this, live] { level_changed(live); }); // ends of tasks report nothing
    if (!is_alarming(live))
      return;
  }
  w.memory->flush_accounting();
  trim_domain(*w.current, is_beyond(level(live_bytes())) ? trim::all : trim::if_much);
  w.memory->flush_accounting();
  const std::int64_t live = level(live_bytes());
  if (!is_alarming(live))
    return be_quiet();
  if (!is_beyond(live) && !has_own_work(w))
    return raise_alarm(live);
  raise_limit(live);
  count(w.counts->throttled);
  if (w.trace && traces(trace_level::runtime))
    w.trace->ring.put(trace_event::held_back, 0, w.trace->ring.running);
  try {
    suspend([](thread_context &, frame &f, void *self) { static_cast<throttle *>(self)->hold(f); },
            this);
  } catch (const error &) { // no stack for the worker to go on with: the producer goes on instead
  }
}

} // namespace rt
} // namespace weft::inline v0

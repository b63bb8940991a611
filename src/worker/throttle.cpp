// SPDX-License-Identifier: Apache-2.0
// The slabs count the memory of live tasks in batches. A producer above a mark is suspended as a
// frame. It goes on
// at three quarters of the lowest mark, or when a worker has nothing else to run.
#include "base/error.hpp"
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

std::int64_t throttled_world::live_bytes() noexcept { return rt::live_bytes(); }
void throttled_world::wake_one() noexcept { the_runtime().idle.notify_one(); }
void throttled_world::make_ready(runnable &producer) {
  rt::make_ready(static_cast<frame &>(producer));
}

void throttle::hold_back(worker &w) {
  if (w.in_callback)
    return;
  w.memory->flush_accounting();
  trim_domain(*w.current, is_beyond(live_bytes()) ? trim::all : trim::if_much);
  w.memory->flush_accounting();
  const std::int64_t live = live_bytes();
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

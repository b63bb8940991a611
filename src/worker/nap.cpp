// SPDX-License-Identifier: Apache-2.0
#include "worker/nap.hpp"

#include "base/clock.hpp"
#include "trace/session.hpp"
#include "ult/hooks.hpp"
#include "ult/stack_switch.hpp"
#include "worker/search.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {

constinit runnable g_nothing;

namespace {

/// Says whether only this worker could do what waits: it manages, or only it and some others may
/// run a task, or its thread keeps the time.
bool is_irreplaceable(const runtime &rt, const worker &w) {
  const auto &managing = rt.manage.chosen();
  return rt.confined.is_in_any(w.id) || w.keeps_time.load(std::memory_order_relaxed) ||
         std::find(managing.begin(), managing.end(), w.id) != managing.end();
}

/// Says whether the watcher adds a spare for the worker. It adds none for external threads beyond
/// the first, and the order of policy seeded depends on no other thread.
bool gets_spare(const runtime &rt, const worker &w) noexcept {
  return (w.id == 0 || has_seat(w)) && !w.is_carried && !w.keeps_to_own && rt.watch.has_thread() &&
         rt.cfg.sched_policy != policy_kind::seeded &&
         rt.naps.load(std::memory_order_relaxed) < rt.max_spares;
}

/// Says whether the thread must not sleep on, for what no rouser may have noticed.
bool is_needed(const runtime &rt, const worker &w) {
  return w.own_frame.full() || rt.stopping.load(std::memory_order_acquire) || // O3 of runtime.cpp
         is_irreplaceable(rt, w);
}

nap_end sleep(runtime &rt, worker &w, const frame *of) {
  std::int64_t deadline = rt.cfg.watch_hang == hang_kind::off
                              ? 0
                              : static_cast<std::int64_t>(now_ns() + hang_patience_ns(rt.cfg));
  for (;;) {
    const nap_end how = w.nap.sleep(of, deadline);
    if (how != nap_end::late)
      return how;
    deadline = 0;
    rt.watch.examine_soon();
  }
}

/// Notes in the counters and in the trace that the worker has nothing to do, for the time of its life.
class idle_time {
 public:
  explicit idle_time(worker &w) : m_worker(w) {
    enter_idle(*w.counts, w.time);
    if (w.trace)
      w.trace->ring.put(trace_event::idle, 0, 0);
  }
  ~idle_time() {
    if (m_worker.trace)
      m_worker.trace->ring.put(trace_event::busy, 0, 0);
    leave_idle(*m_worker.counts, m_worker.time);
  }
  idle_time(const idle_time &) = delete;
  idle_time &operator=(const idle_time &) = delete;

 private:
  worker &m_worker;
};

} // namespace

bool prepare_nap() noexcept {
  worker &w = *this_worker_or_null();
  const runtime &rt = the_runtime();
  if (w.in_callback || w.handoff || !gets_spare(rt, w) || is_needed(rt, w))
    return false;
  w.handoff = &g_nothing;
  return true;
}

void nap(thread_context &here, frame &left, void (*publish)(frame &left, void *context),
         void *context) {
  worker &w = static_cast<worker &>(here);
  runtime &rt = the_runtime();
  w.memory->flush_remote();
  w.memory->flush_accounting();
  rt.naps.fetch_add(1, std::memory_order_relaxed);
  left.flags |= detail::k_naps;
  left.home = &w;
  const idle_time idle(w);
  w.nap.begin(left);
  publish(left, context); // from here on only its address is of use
  if (is_needed(rt, w))
    w.nap.leave();
  rt.watch.look_soon(); // a spare may be wanted
  const nap_end how = sleep(rt, w, &left);
  rt.naps.fetch_sub(1, std::memory_order_relaxed);
  rt.gate.pass();
  if (how == nap_end::raised)
    w.handoff = &left;
}

void end_nap(thread_context &home, frame &suspended) {
  if (static_cast<worker &>(home).nap.raise(suspended))
    return;
  suspended.flags = 0;
  suspended.home = suspended.pool_stack ? root_of(*suspended.pool_stack)->home : &home;
  make_ready(suspended);
}

void end_naps(runtime &rt) noexcept {
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O2: pairs with adoption
  for (unsigned id = 0; id < used; ++id)
    if (worker *each = rt.slots[id].load(std::memory_order_acquire)) // O2
      each->nap.leave();
}

} // namespace rt
} // namespace weft::inline v0

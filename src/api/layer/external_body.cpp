// SPDX-License-Identifier: Apache-2.0
// Bodies that run on threads of a layer. A thread that is not adopted borrows a slot of the table of
// workers, with its counters and its stream of the trace, for as long as it has bodies.
#include "api/layer/external_body.hpp"

#include "observe/timekeeper.hpp"
#include "task/tracing.hpp"
#include "ult/thread_context.hpp"
#include "worker/phase.hpp"

#include <weft/error.hpp>

#include <cstring>
#include <new>
#include <vector>

namespace weft::inline v0 {

using namespace rt;

namespace layer {
namespace {

/// Holds the slots that are lent and that no thread has; with the start lock.
struct free_logs {
  const runtime *of = nullptr; // a child of fork() has another one
  std::size_t lent = 0;
  std::vector<worker *> all; // has room for all that are lent
};
free_logs &logs_of(const runtime &rt) {
  static auto *const only = new free_logs; // never destroyed: threads may end late
  if (only->of != &rt)
    *only = {&rt, 0, {}};
  return *only;
}

/// Returns a slot that no thread has; null: there is none.
worker *free_log() noexcept try {
  start_lock lock;
  if (g_phase.load(std::memory_order_relaxed) != phase::running) // written with the lock
    return nullptr;
  free_logs &logs = logs_of(*g_runtime);
  if (!logs.all.empty()) {
    worker *const w = logs.all.back();
    logs.all.pop_back();
    return w;
  }
  logs.all.reserve(logs.lent + 1);
  worker *const w = lend_slot(*g_runtime);
  logs.lent += w != nullptr;
  return w;
} catch (const std::bad_alloc &) {
  return nullptr;
}

const char *label_of(const described_body &what) noexcept { return what.label(what.task); }

/// Returns whether the body has a place in the trace: its creation may have found no slot.
bool is_traced(const body_log &log, std::uint32_t task) noexcept {
  return log.trace && (task != 0 || !traces(trace_level::tasks));
}

waits_for reason_of(body_wait what) noexcept {
  switch (what) {
  case body_wait::children:
    return waits_for::children;
  case body_wait::group:
    return waits_for::group;
  case body_wait::end_of_task:
    return waits_for::end_of_task;
  case body_wait::outside:
    break;
  }
  return waits_for::unblock;
}

} // namespace

body_log *own_log() noexcept try { return &this_worker(); } catch (const error &) {
  return nullptr;
} catch (const std::bad_alloc &) {
  return nullptr;
}

body_log *borrow_log() noexcept {
  worker *const own = this_worker_or_null(), *const w = own ? own : free_log();
  if (w)
    enter_overall(*w->counts);
  return w;
}

void give_back_log(body_log &log) noexcept {
  leave_overall(*log.counts, log.time);
  if (!log.lent)
    return;
  start_lock lock;
  if (free_logs &logs = logs_of(*g_runtime); logs.lent != 0)
    logs.all.push_back(&log); // which has room
}

void note_spawn_site(tracer &trace, const described_body &what) noexcept {
  const std::uint16_t type = trace.types.find(label_of(what), nullptr);
  if (type == 0 || has_named_site(type))
    return;
  char text[512] = "";
  what.spawn_site(what.task, text, sizeof text);
  name_spawn_site(type, text);
}

std::uint32_t note_creation(body_log &log, const described_body &what) noexcept {
  count(log.counts->without_accesses);
  if (!log.trace || !traces(trace_level::tasks)) [[likely]]
    return 0;
  const std::uint32_t number =
      trace_external_creation(*log.trace, label_of(what), what.group, nullptr, 0);
  note_spawn_site(*log.trace, what);
  return number;
}

void begin_body(body_log &log, std::uint32_t task, const described_body &what,
                running_body &self) noexcept {
  static_assert(sizeof(timed_task) <= sizeof self.timing);
  if (is_traced(log, task)) [[unlikely]] {
    const traced_body body = trace_external_begin(*log.trace, task, label_of(what));
    self.task = body.task;
    self.outer = body.outer;
    self.type = body.type;
  }
  if (--log.time.until == 0) [[unlikely]] {
    const timed_task timed = begin_timed(*log.counts, log.time, {label_of(what), nullptr});
    std::memcpy(self.timing, &timed, sizeof timed);
  }
}

void end_body(body_log &log, running_body &self) noexcept {
  if (self.task != 0 && log.trace) [[unlikely]]
    trace_external_end(*log.trace, {self.task, self.outer, self.type});
  if (self.timing[0] != 0) [[unlikely]] {
    timed_task timed;
    std::memcpy(&timed, self.timing, sizeof timed);
    end_timed(timed, *log.counts, log.time);
  }
  count(log.counts->executed);
}

void count_unlogged_bodies(body_log &log, std::uint64_t n) noexcept { count(log.counts->executed, n); }

void skip_body(body_log &log, std::uint32_t task, const described_body &what) noexcept {
  if (is_traced(log, task)) [[unlikely]]
    trace_external_skipped(*log.trace, task, label_of(what));
  count(log.counts->executed);
}

std::uint32_t sleep_body(body_log *log, body_wait what) noexcept {
  worker *const w = log ? log : this_worker_or_null();
  if (!w)
    return 0;
  if (log)
    count(w->counts->suspended);
  if (!w->trace) [[likely]]
    return 0;
  trace_ring &r = w->trace->ring;
  const std::uint32_t asleep = std::exchange(r.running, 0);
  if (asleep != 0)
    r.put(trace_event::suspend, 0, asleep, static_cast<std::uint64_t>(reason_of(what)));
  if (!w->lent)
    r.put(trace_event::idle, 0, 0);
  return asleep;
}

void wake_body(body_log *log, std::uint32_t asleep) noexcept {
  worker *const w = log ? log : this_worker_or_null();
  if (!w)
    return;
  if (log)
    count(w->counts->resumed);
  if (!w->trace) [[likely]]
    return;
  trace_ring &r = w->trace->ring;
  if (!w->lent)
    r.put(trace_event::busy, 0, 0);
  if (asleep != 0)
    r.put(trace_event::resume, 0, asleep);
  r.running = asleep;
}

std::uint64_t wait_begins() noexcept { return traces(trace_level::graph) ? read_ticks() : 0; }

void wait_is_over(body_log *log, std::uint64_t since, const void *group) noexcept {
  worker *const w = log ? log : this_worker_or_null();
  if (since != 0 && w && w->trace) [[unlikely]]
    w->trace->ring.put(trace_event::waited, 0, w->trace->ring.running, since,
                       reinterpret_cast<std::uintptr_t>(group));
}

} // namespace layer
} // namespace weft::inline v0

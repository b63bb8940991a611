// SPDX-License-Identifier: Apache-2.0
// Records tasks in a trace. All calls are made in places that test something else already, so that
// a run without a trace does not pay:
// - a heap that gives no memory at once;
// - the flag of tasks that take the general path;
// - the test for measured stacks.
#pragma once

#include "task/recorded.hpp"
#include "task/spawn_site.hpp"
#include "task/task.hpp"
#include "trace/session.hpp"

#include <weft/access.hpp>

#include <string_view>
#include <utility>

namespace weft::inline v0 {
namespace rt {

struct region_entry;

/// Gives a new task its name in the trace, and a mark that makes it take the general path until its
/// creation is recorded.
inline void trace_birth(tracer &trace, task &t) noexcept {
  t.trace_id = trace.ring.fresh_id();
  t.set(detail::k_special);
}

struct traced_accesses {
  const access *first = nullptr;
  std::size_t first_count = 0;
  const access *second = nullptr;
  std::size_t second_count = 0;
  const region_entry *regions = nullptr;
  std::size_t region_count = 0;
};
/// Says whether a task is created for one run, or for the rounds of a taskiter.
enum class created_for { one_run, rounds };
/// Records that the task is entered.
void trace_creation(tracer &trace, task &t, const traced_accesses &accesses,
                    created_for runs) noexcept;
/// Records the same for a task with at most one access, for which nothing else asks for the general
/// path. Returns false, and records nothing, for other tasks.
bool trace_common_creation(tracer &trace, task &t, const access *only) noexcept;
/// Records a task that a layer runs by itself, as created by what runs in the slot, with the regions
/// that it names.
WEFT_COLD std::uint32_t trace_external_creation(tracer &trace, const char *label, const void *group,
                                                const region_entry *regions,
                                                std::size_t count) noexcept;
/// Notes where the tasks of a type were spawned, as a report shows it, unless it is known.
WEFT_COLD void name_spawn_site(std::uint16_t type, std::string_view site) noexcept;
[[nodiscard]] WEFT_COLD bool has_named_site(std::uint16_t type) noexcept;
/// Returns that place; empty where it is not known.
[[nodiscard]] std::string_view named_spawn_site(std::size_t type) noexcept;
WEFT_COLD void trace_abandoned(task &t) noexcept;
/// Records that nothing holds the task back any more.
WEFT_COLD void trace_ready(const task &t) noexcept;

/// Numbers a promise, or the result of several futures.
inline void trace_state(tracer &trace, task &state) noexcept { state.trace_id = trace.ring.fresh_id(); }
/// Records what a task, or the result of several futures, waits for. `ends`: its body is over by then.
enum class comes_after : std::uint8_t { begins, ends };
WEFT_COLD void trace_after(const task &t, const task &before, comes_after how) noexcept;
/// Records that a promise has its result.
WEFT_COLD void trace_given(const task &state) noexcept;

/// Names a running body in the trace.
struct traced_body {
  std::uint32_t task = 0; // 0: it is not traced
  std::uint32_t outer = 0;
  std::uint16_t type = 0;
};
WEFT_NOINLINE void trace_nested_begin(tracer &trace, task &t, const traced_body &body) noexcept;
WEFT_NOINLINE void trace_uncommon_end(tracer &trace, task &t, const traced_body &body) noexcept;

/// Returns whether the body is that of a coroutine that goes on: then it keeps its number, also where
/// each begin has another one.
[[nodiscard]] WEFT_INLINE bool keeps_number(const task &t) noexcept {
  const task_extra *const extra = peek_extra(t);
  return extra && extra->coroutine && t.trace_id != 0;
}

/// Records that the body begins. At a level that does not record the tasks themselves, it is the
/// first record of a task.
[[nodiscard]] WEFT_INLINE traced_body trace_begin(task &t) noexcept {
  tracer *const x = this_thread_context()->trace;
  if (!x) [[unlikely]]
    return {};
  if ((!traces(trace_level::tasks) || t.has_meanwhile(detail::k_implicit)) && !keeps_number(t))
    t.trace_id = x->ring.fresh_id();
  const traced_body b{t.trace_id, std::exchange(x->ring.running, t.trace_id),
                      x->types.find(t.label, t.ops->closure)};
  x->ring.ending = 0;
  if (b.outer != 0 || is_recorded(t)) [[unlikely]]
    trace_nested_begin(*x, t, b);
  else
    x->ring.begin(b.type, b.task);
  return b;
}
/// Records which coroutine of the task waits, if one does.
WEFT_NOINLINE void trace_left(tracer &trace, const task &t) noexcept;

/// Records that the body has ended, perhaps on another worker.
WEFT_INLINE void trace_end(task &t, const traced_body &body) noexcept {
  tracer *const x = this_thread_context()->trace;
  if (!x || body.task == 0) [[unlikely]]
    return;
  if (peek_extra(t)) [[unlikely]]
    trace_left(*x, t);
  x->ring.running = body.outer;
  if (!traces(trace_level::tasks) && body.outer == 0)
    return; // the next record of this worker implies the end
  x->ring.ending = body.task;
  if (body.outer != 0 || is_recorded(t) || peek_extra(t)) [[unlikely]]
    return trace_uncommon_end(*x, t, body);
  x->ring.end(body.type, body.task);
}

/// Records, at level `switch`, the begin of a body that runs on no other body's frame. No end is
/// recorded: the next record of this worker implies it. Returns false, and records nothing, for
/// other bodies.
[[nodiscard]] WEFT_INLINE bool trace_lone_begin(task &t) noexcept {
  tracer *const x = this_thread_context()->trace;
  if (!x || x->ring.running != 0 || is_recorded(t)) [[unlikely]]
    return false;
  if (!keeps_number(t)) [[likely]]
    t.trace_id = x->ring.fresh_id();
  x->ring.running = t.trace_id;
  x->ring.put(trace_event::begin, x->types.find(t.label, t.ops->closure), t.trace_id);
  return true;
}
WEFT_INLINE void trace_lone_end(const task &t) noexcept {
  tracer *const x = this_thread_context()->trace;
  if (!x) [[unlikely]]
    return;
  if (peek_extra(t)) [[unlikely]]
    trace_left(*x, t);
  x->ring.running = 0;
}

/// Records that a body of a task that a layer runs by itself begins; `task` is its name in the trace.
[[nodiscard]] WEFT_COLD traced_body trace_external_begin(tracer &trace, std::uint32_t task,
                                                         const char *label) noexcept;
/// Records its end, at every level: the slot may have no other record for long.
WEFT_COLD void trace_external_end(tracer &trace, const traced_body &body) noexcept;
WEFT_COLD void trace_external_skipped(tracer &trace, std::uint32_t task,
                                      const char *label) noexcept;

WEFT_COLD void trace_skipped(task &t) noexcept;
/// Records that the worker adopts a thread; `root` is the thread's task.
WEFT_COLD void trace_root(tracer &trace, task &root) noexcept;
/// Records that a worker begins a join's branch that it has taken from another one.
WEFT_COLD std::uint32_t trace_branch_begins(tracer &trace, task &branch) noexcept;
WEFT_COLD void trace_branch_ends(tracer &trace, std::uint32_t id, std::uint32_t outer) noexcept;

/// Returns the calls that led to the first task of a type, innermost first. The type must be ready.
[[nodiscard]] spawn_site spawn_site_of_type(std::size_t type) noexcept;

} // namespace rt
} // namespace weft::inline v0

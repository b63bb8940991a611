// SPDX-License-Identifier: Apache-2.0
#include "task/run_body.hpp"

#include "task/destructor.hpp"
#include "task/hooks.hpp"
#include "task/ready.hpp"
#include "task/stack_usage.hpp"
#include "task/tracing.hpp"

#include <weft/error.hpp>

#include <string>

namespace weft::inline v0 {
namespace rt {
namespace {

WEFT_INLINE std::uint8_t hooks() noexcept { return g_body_hooks.load(std::memory_order_relaxed); }

void invoke_measured(task &self) noexcept {
  constexpr auto invoke = [](task &measured) noexcept { invoke_body(measured); };
  (hooks() & k_measures_stacks) != 0 ? run_measured(self, invoke) : invoke(self);
}

WEFT_NOINLINE void run_watched(task &self, std::uint8_t by) noexcept {
  if (by & k_safepoint) [[unlikely]]
    stop_at_safepoint();
  if (!(by & k_traces_bodies))
    return invoke_measured(self);
  const traced_body traced = trace_begin(self);
  if (by & k_measures_stacks) [[unlikely]]
    invoke_measured(self);
  else
    invoke_body(self);
  trace_end(self, traced);
}

} // namespace

void run_hooked(task &self) noexcept {
  const std::uint8_t by = hooks();
  if (by != (k_traces_bodies | k_traces_switches) || !trace_lone_begin(self))
    return run_watched(self, by);
  invoke_body(self);
  trace_lone_end(self);
}

void run_with_extra(task &self) noexcept {
  task_extra *extra = peek_extra(self);
  if (extra && extra->only_destructor)
    return run_destructor(self);
  if (!extra || !extra->stack_bytes)
    return run_body(self);
  try {
    run_on_own_stack(
        extra->stack_bytes, [](void *on_it) { run_body(*static_cast<task *>(on_it)); }, &self);
  } catch (...) { // no such stack: the task fails
    fail(self, std::current_exception());
  }
}

void skip_body(task &self) noexcept {
  if (const task_extra *extra = peek_extra(self); extra && extra->only_destructor)
    return run_destructor(self);
  self.set(detail::k_cancelled);
  if (hooks() & k_traces_bodies)
    trace_skipped(self);
  if (!self.has(detail::k_tracked))
    return;
  try {
    std::string what = "task '";
    what += label_of(self);
    what += is_cancelled(self) ? "' was skipped: its group was cancelled before it ran"
                               : "' was skipped: it was asked to stop before it ran";
    keep_own_error(self, std::make_exception_ptr(error(errc::cancelled, what)));
  } catch (...) {
    keep_own_error(self, std::current_exception());
  }
}

void run_whole(task &self) noexcept {
  if (self.has(detail::k_special)) [[unlikely]]
    run_with_extra(self);
  else
    run_body(self);
}

void hook_bodies(bool measures_stacks) noexcept {
  const int tracing = g_trace_level == trace_level::off ? 0
                      : traces(trace_level::tasks)      ? k_traces_bodies
                                                        : k_traces_bodies | k_traces_switches;
  g_body_hooks.store(static_cast<std::uint8_t>((measures_stacks ? k_measures_stacks : 0) | tracing),
                     std::memory_order_relaxed);
  g_traces_readiness = traces(trace_level::graph);
}

void arm_safepoint() noexcept { g_body_hooks.fetch_or(k_safepoint, std::memory_order_relaxed); }

void disarm_safepoint() noexcept {
  g_body_hooks.fetch_and(static_cast<std::uint8_t>(~k_safepoint), std::memory_order_relaxed);
}

} // namespace rt
} // namespace weft::inline v0

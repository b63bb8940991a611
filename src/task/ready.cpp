// SPDX-License-Identifier: Apache-2.0
#include "task/ready.hpp"

#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/access.hpp"
#include "task/hooks.hpp"
#include "task/tracing.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/hold.hpp"
#include "task/wait/waiters.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {

WEFT_COLD void call_onready(task &self) noexcept {
  task_extra *extra = peek_extra(self);
  if (!extra || !extra->onready)
    return;
  thread_context *here = this_thread_context(); // null on a thread that only decreases events
  const callback called{"the onready function of task", label_of(self)};
  task *const outer = here ? std::exchange(here->current, &self) : nullptr;
  const callback *const outer_callback = here ? std::exchange(here->in_callback, &called) : nullptr;
  try {
    extra->onready(extra->onready_context);
  } catch (const std::exception &error) {
    fatal("%s '%s' threw: %s; let it catch what it throws: no caller waits for it", called.what,
          called.name, error.what());
  } catch (...) {
    fatal("%s '%s' threw; let it catch what it throws: no caller waits for it", called.what,
          called.name);
  }
  if (here) {
    here->current = outer;
    here->in_callback = outer_callback;
  }
}

bool announce_general(task &self) {
  if (is_cohort(self)) {
    serve_cohort(self);
    return false;
  }
  if (self.has(detail::k_special)) {
    if (!passes_gate(self)) // the last future announces the task
      return false;
    if (!take_exclusions(self)) // the task that releases them announces this one again
      return false;
    if (is_external(self)) {
      const detail::external_closure closure = external_closure_of(self);
      closure.onready(closure.context); // the task may be gone
      return false;
    }
    if (g_traces_readiness)
      trace_ready(self);
    call_onready(self);
  }
  if (!self.has(detail::k_undeferred)) {
    if (self.has(detail::k_tracked))
      open_to_waiters(self.unsatisfied); // O1 of claim_word.hpp
    if (self.priority >= 0)
      return true;
    enqueue_ready(self); // whatever else is ready goes first
    return false;
  }
  unless(bug::undeferred_creator_forgotten,
         [&self] { fire_waiters(self.done_word, k_runnable_now); });
  return false;
}

runnable *first_of(ready_list &ready) {
  runnable *first = ready.pop_front();
  if (ready.empty()) [[likely]]
    return first && announce_ready(*static_cast<task *>(first)) ? first : nullptr;
  if (!announce_ready(*static_cast<task *>(first)))
    first = nullptr;
  while (runnable *next = ready.pop_front()) {
    if (!announce_ready(*static_cast<task *>(next)))
      continue;
    if (!first || next->priority > first->priority)
      std::swap(next, first);
    if (next)
      enqueue_ready(*next);
  }
  return first;
}

void enqueue_all(ready_list &ready) {
  while (runnable *next = ready.pop_front())
    if (announce_ready(*static_cast<task *>(next)))
      enqueue_ready(*next);
}

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
#include "task/failure.hpp"

#include "base/log.hpp"
#include "task/groups/group.hpp"
#include "task/hooks.hpp"
#include "task/recorded.hpp"

#include <weft/error.hpp>

#include <utility>

namespace weft::inline v0 {
namespace rt {

namespace {

void report(const char *label, const std::exception_ptr &error, const char *remedy) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const weft::error &e) {
    if (e.code() != errc::cancelled) // a task that was skipped is not a failure
      warn("task '%s' threw, and no caller asked for the exception: %s; %s", label, e.what(),
           remedy);
  } catch (const std::exception &e) {
    warn("task '%s' threw, and no caller asked for the exception: %s; %s", label, e.what(), remedy);
  } catch (...) {
    warn("task '%s' threw, and no caller asked for the exception; %s", label, remedy);
  }
}

} // namespace

void report_lost(const char *label, const std::exception_ptr &error) noexcept {
  report(label, error, "call taskwait(), group.wait() or handle.get()");
}

void report_unasked(const char *label, const std::exception_ptr &error) noexcept {
  report(label, error, "nothing can wait for it there; catch exceptions within it");
}

namespace {

[[noreturn]] WEFT_COLD void no_memory_for(const task &t) noexcept {
  fatal("task '%s' threw, and there is no memory to keep its exception for its waiter",
        label_of(t));
}

/// Keeps the failure of a child outside of groups: its parent's taskwait will throw. Its siblings
/// run on: only a group cancels.
void parent_failed(task &parent, const char *label, std::exception_ptr error) {
  if (is_root_of_functions(parent))
    return report_unasked(label, error);
  task_extra *x = try_extra_of(parent);
  if (!x ||
      x->failing.exchange(
          true,
          std::memory_order_acq_rel)) // O4: one failure is kept; taskwait opens the gate again
    return report_lost(label, error);
  x->children_error = std::move(error);
}

[[noreturn]] void terminate_for(const char *label, const std::exception_ptr &error,
                                const char *why = "its policy is terminate") noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception &e) {
    fatal("task '%s' threw and %s: %s", label, why, e.what());
  } catch (...) {
    fatal("task '%s' threw and %s", label, why);
  }
}

bool is_cancellation(const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const weft::error &e) {
    return e.code() == errc::cancelled;
  } catch (...) {
    return false;
  }
}

} // namespace

void keep_own_error(task &t, std::exception_ptr error) noexcept {
  task_extra *x = try_extra_of(t);
  if (!x)
    no_memory_for(t);
  if (x->own_failing.exchange(true, std::memory_order_relaxed)) // one failure is kept
    return report_lost(label_of(t), error);
  x->own_error = std::move(error);
}

void pass_on_children_error(task &t, task_extra &extra) noexcept {
  if (!extra.children_error)
    return;
  std::exception_ptr error = std::exchange(extra.children_error, nullptr);
  if (t.group)
    group_failed(t.group->internals(), t, std::move(error));
  else
    parent_failed(*t.parent, label_of(t), std::move(error));
}

void fail_for(task &parent, const char *label, std::exception_ptr error) noexcept {
  if (g_default_policy == exception_policy::terminate)
    terminate_for(label, error);
  parent_failed(parent, label, std::move(error));
}

void set_default_exception_policy(exceptions_kind kind) noexcept {
  switch (kind) {
  case exceptions_kind::collect_all:
    g_default_policy = exception_policy::collect_all;
    break;
  case exceptions_kind::terminate:
    g_default_policy = exception_policy::terminate;
    break;
  case exceptions_kind::first_cancels:
    g_default_policy = exception_policy::first_cancels;
    break;
  }
}

namespace {
unobserved_kind g_unobserved = unobserved_kind::report;
} // namespace

void set_unobserved(unobserved_kind kind) noexcept { g_unobserved = kind; }

void lose_unasked(const char *label, const std::exception_ptr &error) noexcept {
  if (g_unobserved == unobserved_kind::terminate && !is_cancellation(error))
    terminate_for(label, error,
                  "no caller asked for the exception (future.unobserved is terminate)");
  if (g_unobserved != unobserved_kind::ignore)
    report_lost(label, error);
}

void fail(task &t, std::exception_ptr error) noexcept {
  t.set(detail::k_cancelled);
  hand_over_failure(t, std::move(error));
}

namespace {

/// Returns whether the failure of the task ends the program. A recorded task fails as its taskiter
/// does.
bool ends_the_program(const task &t) noexcept {
  const task *whole = &t;
  while (is_recorded(*whole))
    whole = whole->parent;
  if (whole->has(detail::k_tracked))
    return false;
  return (whole->group ? whole->group->internals().policy : g_default_policy) ==
         exception_policy::terminate;
}

} // namespace

void hand_over_failure(task &t, std::exception_ptr error) noexcept {
  if (is_recorded(t)) {
    if (ends_the_program(t))
      terminate_for(label_of(t), error);
    recorded_failed(t, std::move(error));
  } else if (t.has(detail::k_tracked)) {
    keep_own_error(t, std::move(error));
  } else if (t.group) {
    if (t.group->internals().policy == exception_policy::terminate)
      terminate_for(label_of(t), error);
    group_failed(t.group->internals(), t, std::move(error));
  } else if (g_default_policy == exception_policy::terminate) {
    terminate_for(label_of(t), error);
  } else {
    parent_failed(*t.parent, label_of(t), std::move(error));
  }
}

} // namespace rt
} // namespace weft::inline v0

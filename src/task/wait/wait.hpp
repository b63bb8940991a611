// SPDX-License-Identifier: Apache-2.0
// Waiting: for children, for a group, for one task.
#pragma once

#include "task/groups/group.hpp"
#include "task/hooks.hpp"
#include "task/parent_process.hpp"
#include "task/task.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/signal_word.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says what a wait does when no stack is left for its worker to go on with.
enum class exhausted {
  throws,  // weft::error; but a thread's own code goes on
  goes_on, // runs what is ready on top of the waiting frame: for waits that other code relies on
};

/// Names the tasks that one waits for: the children of its task outside of groups, or those of a
/// group. It refers to their counter, its plain half, and the slot of the waiter.
struct task_scope {
  task *parent; // null: of a group
  group_state *group;
  completion_word<> &word;
  std::uint32_t &owned;
  runnable *&waiter;

  explicit task_scope(task &children_of) noexcept
      : parent(&children_of), group(nullptr), word(children_of.children),
        owned(children_of.owned_children), waiter(children_of.next) {}
  explicit task_scope(group_state &tasks_of) noexcept
      : parent(nullptr), group(&tasks_of), word(tasks_of.word), owned(tasks_of.owned),
        waiter(tasks_of.waiter) {}
  [[nodiscard]] bool is_over() const noexcept { return word.done(owned); }
  [[nodiscard]] wait_reason reason() const noexcept {
    return parent ? wait_reason{waits_for::children, parent}
                  : wait_reason{waits_for::group, group};
  }
};
/// Makes a frame, or a task whose body is a coroutine, the waiter; the thread that has left it calls
/// it. False: all tasks are complete, and the caller makes the waiter ready. After true the scope
/// may be gone.
[[nodiscard]] bool enter_waiter(const task_scope &within, runnable &waiter) noexcept;
/// Takes the waiter back. False: it goes on, or will, because all tasks are complete or because
/// another caller has taken it back.
[[nodiscard]] bool withdraw_waiter(const task_scope &within) noexcept;

/// Records in the trace from when to when a task has waited for others.
class traced_wait {
 public:
  explicit traced_wait(const task_scope &within) noexcept;
  ~traced_wait() {
    if (m_since) [[unlikely]]
      put();
  }
  traced_wait(const traced_wait &) = delete;
  traced_wait &operator=(const traced_wait &) = delete;
  /// Records nothing: the wait was given up.
  void forget() noexcept { m_since = 0; }

 private:
  WEFT_COLD void put() noexcept;
  std::uint64_t m_since = 0;
  const void *m_group;
};

/// Waits until all children of the caller's current task outside of groups are complete.
void wait_for_children(task &t, exhausted how = exhausted::throws);
void wait_for_group(group_state &group, exhausted how = exhausted::throws);
/// Does what follows these waits.
void end_wait_for_children(task &t);
void end_wait_for_group(group_state &group);
/// Throws weft::error, invalid_argument, if the task is of the parent process.
WEFT_COLD void refuse_task_of_parent(const task &t);
void suspend_until_done(task &t, exhausted how);
/// Waits until body and events of a tracked task are over.
WEFT_INLINE void wait_until_done(task &t, exhausted how = exhausted::throws) {
  if (is_raised(t.done_word, k_done))
    return;
  if (g_was_forked) [[unlikely]]
    refuse_task_of_parent(t);
  if (is_open(t.unsatisfied))
    run_awaited(t);
  if (!is_raised(t.done_word, k_done))
    suspend_until_done(t, how);
}
/// Waits until an undeferred task may run, if it could not at once. Goes on without a stack.
void wait_until_runnable(task &t);
/// Rethrows, once, what a child has thrown.
void rethrow_children_error(task &t);

} // namespace rt
} // namespace weft::inline v0

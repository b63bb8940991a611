// SPDX-License-Identifier: Apache-2.0
// Notes for reports which task is below another one on a stack where parents do not say so: a wait
// runs in place a task whose parent is not the waiter. `task::next` of the waiter names that task.
#pragma once

#include "task/task.hpp"
#include "ult/stack_switch.hpp"

namespace weft::inline v0 {
namespace rt {

/// Is a run in place. Lives on the stack of the run, in the list stack_root::runs, until the task has
/// ended. Observers read the list while no thread runs tasks.
struct run_in_place {
  run_in_place(stack_root &of, task &by) noexcept : waiter(&by), below(of.runs), on(&of) { of.runs = this; }
  ~run_in_place() { on->runs = below; }
  run_in_place(const run_in_place &) = delete;
  run_in_place &operator=(const run_in_place &) = delete;

  task *const waiter;
  const run_in_place *const below; // on the same stack
  stack_root *const on;
};

} // namespace rt
} // namespace weft::inline v0

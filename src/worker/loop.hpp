// SPDX-License-Identifier: Apache-2.0
// What a worker does with work that is not on its usual way.
#pragma once

#include "sched/policy.hpp"
#include "task/execute.hpp"

namespace weft::inline v0 {
namespace rt {

struct worker;

/// Gives work that only some workers may run to one of them.
WEFT_COLD void enqueue_confined(runnable &item);

void enqueue_elsewhere(worker *here, runnable &item,
                       origin from); // not onto the worker's own queue
void run_join(detail::join_job &job);
/// Runs what has the kind join: a branch of a join, or a posted call.
void run_job(worker &w, runnable &item);
/// Enqueues a branch of a join, so that every worker that may run its task can take it.
void enqueue_job(worker &w, detail::join_job &job);
/// Executes a task whose time is measured; see observe/timekeeper.hpp.
WEFT_NOINLINE runnable *execute_timed(worker &w, task &t, body_on where) noexcept;

} // namespace rt
} // namespace weft::inline v0

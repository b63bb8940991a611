// SPDX-License-Identifier: Apache-2.0
// What running a task asks of the queues.
#pragma once

#include "task.hpp"

namespace weft_omp {

/// Counts it where it is waited for.
void count_in(omp_task &x);
/// Enters the accesses; when they allow it, the task is offered: to the team or, where it is undeferred, to its creator.
void hold(thread &t, omp_task &x, const task_clauses &clauses);
/// Its next part, of an untied task.
void offer_again(thread &t, omp_task &x);
void wait_until_ready(thread &t, omp_task &x);

} // namespace weft_omp

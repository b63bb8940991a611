// SPDX-License-Identifier: Apache-2.0
// Waiting in a task. The thread runs descendants of the task meanwhile.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

/// Waits for the children of the thread's task.
void wait_for_children(thread &self);
/// Begin and end a taskgroup of the thread's task. Its end waits for the tasks of the group.
void begin_group(thread &self);
void end_group(thread &self);
/// Wait in the creator of an undeferred task: until its accesses allow it to run, and until it is
/// complete.
void wait_until_ready(thread &self, omp_task &task);
void wait_until_complete(thread &self, omp_task &task);

} // namespace weft_omp

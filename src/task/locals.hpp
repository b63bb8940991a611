// SPDX-License-Identifier: Apache-2.0
// Task-local values: a list in the task's extra block.
//
// Roles       The task's body and, inside join(), its branches on other workers: look and add. The one who ends the body: ends.
// Word        task_extra::locals, the newest value, or null; a value names the next older one.
// Invariants  I1  A value is never taken from the list before the body has ended.  I2  A key is in the list once.
// Orders      O1  head: release on adding, acquire on looking: the value is seen whole.
// Progress    Looking is wait-free, adding lock-free. Reclamation: at the end of the body, by one thread.
// Checked by  tests/unit/api/task_local_test.cpp
#pragma once

#include "task/task.hpp"

#include <weft/task_local.hpp>

namespace weft::inline v0 {
namespace rt {

struct local_value;

/// The value of `key` in the task, or null.
[[nodiscard]] void *find_local(const task_extra &x, std::uint64_t key) noexcept;
/// Makes it; when a branch of a join was faster, its value is the one. Throws what the constructor throws.
[[nodiscard]] void *add_local(task_extra &x, std::uint64_t key, const detail::local_ops &ops, const void *variable);
/// Destroys the values, newest first, and those that the destructors make.
void end_locals(task_extra &x) noexcept;

} // namespace rt
} // namespace weft::inline v0

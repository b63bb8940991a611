// SPDX-License-Identifier: Apache-2.0
// Task-local values, in the task's extra block (local_list.hpp).
#pragma once

#include "task/task.hpp"

#include <weft/task_local.hpp>

namespace weft::inline v0 {
namespace rt {

/// Returns the value of `key` in the task, or null.
[[nodiscard]] void *find_local(const task_extra &extra, std::uint64_t key) noexcept;
/// Makes the value and returns it. If another branch of a join was faster, returns that branch's
/// value. Throws what the constructor throws.
[[nodiscard]] void *add_local(task_extra &extra, std::uint64_t key, const detail::local_ops &ops,
                              const void *variable);
/// Destroys the values, newest first, and those that the destructors make.
void end_locals(task_extra &extra) noexcept;

} // namespace rt
} // namespace weft::inline v0

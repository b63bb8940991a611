// SPDX-License-Identifier: Apache-2.0
// Tasks that the child of a fork() has from its parent process.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Labels, in the child of a fork(), the task that the thread had in the parent.
inline constexpr char k_parent_process[] = "main of the parent process";
/// Says whether this process was forked by one that used Weft. Written before the child uses Weft.
inline bool g_was_forked = false;

/// Returns whether the task was spawned before the fork() that made this process: only the parent
/// process runs such a task.
[[nodiscard]] inline bool is_of_parent_process(const task &self) noexcept {
  if (!g_was_forked) [[likely]]
    return false;
  const task *top = &self;
  while (top->parent)
    top = top->parent;
  return top->label == k_parent_process;
}

} // namespace rt
} // namespace weft::inline v0

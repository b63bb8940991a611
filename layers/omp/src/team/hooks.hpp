// SPDX-License-Identifier: Apache-2.0
// Functions that team/, task/ and tool/ call and that a higher folder supplies: abi/llvm/kmpc_reduction.cpp,
// abi/llvm/kmpc_task.cpp.
#pragma once

namespace weft_omp {

struct omp_team;
struct kmp_task;
struct task_group;
struct thread;

/// Combines the private copies of the group's reductions into the originals, when the tasks of the
/// group are over.
void finish_reductions(thread &self, task_group &group);

/// Returns whether a task has run the first part of the program's code in it.
[[nodiscard]] bool has_begun(const kmp_task *task) noexcept;

/// Runs the destructors of the data of a cancelled task, whose body never begins.
void destroy_unused(const thread &self, kmp_task *task) noexcept;

/// Frees what reductions of cancelled regions and loops have left, when no member is in the region.
void forget_reductions(omp_team &team) noexcept;

} // namespace weft_omp

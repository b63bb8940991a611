// SPDX-License-Identifier: Apache-2.0
// Functions that team/ calls and that a higher folder supplies: abi/llvm/kmpc_reduction.cpp.
#pragma once

namespace weft_omp {

struct omp_team;
struct task_group;
struct thread;

/// Combines the private copies of the group's reductions into the originals, when the tasks of the
/// group are over.
void finish_reductions(thread &self, task_group &group);

/// Frees what reductions of cancelled regions and loops have left, when no member is in the region.
void forget_reductions(omp_team &team) noexcept;

} // namespace weft_omp

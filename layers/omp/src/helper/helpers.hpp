// SPDX-License-Identifier: Apache-2.0
// Hidden helpers, as LLVM calls them: threads of no team. They run the tasks of `target nowait`
// concurrently with the creator of the task, in a region or outside of one.
#pragma once

namespace weft_omp {

struct omp_task;
struct thread;

/// Makes the helpers if the user wants them and there are none yet. False: there are none.
bool have_helpers(thread &self);
/// Gives a ready task to the helpers. `self` is null on a thread inside of Weft.
void give_to_helpers(thread *self, omp_task &task) noexcept;
/// Forgets the helpers in the child of fork(), because they are threads of the parent.
void forget_helpers() noexcept;

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// Hidden helpers, as LLVM calls them: threads of no team that run what `target nowait` asks for, beside who asked, in a region or outside of one.
#pragma once

namespace weft_omp {

struct omp_task;
struct thread;

/// Makes them where they are wanted and not there. False: there are none.
bool have_helpers(thread &me);
/// The task is ready. `me` null: inside of Weft.
void give_to_helpers(thread *me, omp_task &x) noexcept;
/// Of the child of fork(): they are the parent's.
void forget_helpers() noexcept;

} // namespace weft_omp

// SPDX-License-Identifier: Apache-2.0
// The OpenMP threads that stand for tasks of Weft's own (hosts). A task has one for its body, which
// goes with the body from stack to stack, and one for each branch of a join that another worker runs,
// which begins with the settings of the code around the join. What runs in place has the host of what it
// runs in. A host ends with its body or branch. So settings and locks of a task are its own, also
// where one task runs on the stack of another, which waits for it.
//
// A service and an onready function have no task: the stack on which they run has a host for all of
// them.
#pragma once

#include "thread/thread.hpp"

namespace weft_omp {

/// Returns the caller's host, or null if it has none. The caller runs on `stack`, one of Weft's.
[[nodiscard]] thread *find_host(const weft::layer::stack_range &stack) noexcept;
/// Makes the host of a caller that has none.
thread &make_host(const weft::layer::stack_range &stack) noexcept;
/// Forgets the hosts of the parent, in the child of a fork().
void forget_hosts() noexcept;

} // namespace weft_omp

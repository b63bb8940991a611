// SPDX-License-Identifier: Apache-2.0
// The switch between model threads. ucontext would do, but makes a system call each time.
#pragma once

#include <cstddef>

namespace weft_model {

/// Saves the current position in `*from` and continues at `to`.
void switch_fiber(void **from, void *to);

/// Returns a stack that enters `entry` at the first switch to it; `entry` never returns. `index`
/// selects one of a few stacks, which are used again.
void *make_fiber(int index, void (*entry)());

} // namespace weft_model

// SPDX-License-Identifier: Apache-2.0
// The switch between model threads. ucontext would do, but makes a system call each time.
#pragma once

#include <cstddef>

namespace weft_model {

/// Saves where it is in `*from` and goes on at `to`.
void switch_fiber(void **from, void *to);

/// A stack that enters `entry` when it is switched to for the first time; entry never returns. `index`
/// selects one of a few stacks, which are used again.
void *make_fiber(int index, void (*entry)());

} // namespace weft_model

// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

namespace weft_omp {

struct thread;

// Supplied by task/.

/// Leaves the records that an ending thread has kept to other threads.
void empty_pool(thread &t) noexcept;

} // namespace weft_omp

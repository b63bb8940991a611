// SPDX-License-Identifier: Apache-2.0
// Locks whose data a child of fork() goes on with.
#pragma once

#include "weft_threads/sync/spin.hpp"

#include <weft_threads/light_thread.hpp>

namespace weft_threads {

/// Makes a thread that forks take the lock before, and give it back in both processes. So no thread is
/// in the middle of a change, and the child has no lock that a thread of its parent holds. The lock
/// lasts as long as the process. What is done under it calls no code of the program, which might fork.
WEFT_THREADS_API void hold_over_fork(spin_lock &lock) noexcept;

} // namespace weft_threads

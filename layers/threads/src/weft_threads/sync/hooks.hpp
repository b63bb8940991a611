// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include <weft_threads/light_thread.hpp>

namespace weft_threads {

// Supplied by kernel/.

/// Returns how many spin locks the thread whose block is in use holds. A thread that holds one must
/// not be interrupted.
[[nodiscard]] WEFT_THREADS_API int spin_locks_held() noexcept;
/// Adds to the number of spin locks that the calling thread holds.
/// Never inlined, because between two locks the caller may move to another kernel thread, and so to
/// another block.
WEFT_THREADS_API void count_spin_locks(int by) noexcept;

} // namespace weft_threads

// SPDX-License-Identifier: Apache-2.0
// Unstable: kernel threads that layers have for themselves. Changes with any version.
#pragma once

#include <weft/config.hpp>

namespace weft::inline v0 {
namespace layer {

/// Starts `run(argument)` on a kernel thread that counts as one of Weft's own: it blocks the program's
/// signals, is no pool thread, and does not keep a process alive whose other threads have ended. `run`
/// does not return; the thread ends with the process, and a child of fork() has none.
/// `name` is cut to 15 characters. Returns zero, or the errno value that says why there is no thread.
///
/// Threads. Any. Does not start the runtime.
[[nodiscard]] WEFT_API int start_own_thread(const char *name, void (*run)(void *argument),
                                            void *argument) noexcept;

} // namespace layer
} // namespace weft::inline v0

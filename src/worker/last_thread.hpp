// SPDX-License-Identifier: Apache-2.0
// What stands for the program's first thread once that has ended by pthread_exit(): Weft's threads would keep the process alive for ever, and take no signals.
#pragma once

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Threads that are Weft's own, or that it has adopted.
[[nodiscard]] unsigned known_threads(runtime &rt) noexcept;

/// By a thread that ends and is no longer adopted. When the first thread of the process is the one that ends, or has ended, a thread with the caller's signal mask is started, once, which takes the signals that
/// the program left open, and calls exit() when only Weft's threads are left, as the C library does when none is.
void stand_for_first_thread() noexcept;

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// Stops all workers for a moment, so that the watcher can read what is alive while tasks run. How:
// safepoint_core.hpp.
#pragma once

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Stops the workers. The watcher's thread calls it, and waits until all have stopped, or for
/// `limit_ns`. True: nothing runs, and the gate is closed, until resume_workers(). False: some
/// workers did not stop; nothing is held.
[[nodiscard]] bool try_stop_workers(runtime &rt, std::uint64_t limit_ns);
void resume_workers(runtime &rt) noexcept;
/// Returns whether the worker in that slot neither sleeps nor has stopped.
[[nodiscard]] bool is_active(runtime &rt, unsigned slot) noexcept;

} // namespace rt
} // namespace weft::inline v0

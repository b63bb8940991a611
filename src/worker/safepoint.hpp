// SPDX-License-Identifier: Apache-2.0
// Stops all workers for a moment, so that somebody can look at what lives while tasks run. How: safepoint_core.hpp.
#pragma once

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;

/// The watcher's thread: until all workers have stopped, or for `limit_ns`. True: nothing runs, and the gate is closed, until resume_workers(). False: some
/// do not stop; nothing is held.
[[nodiscard]] bool try_stop_workers(runtime &rt, std::uint64_t limit_ns);
void resume_workers(runtime &rt) noexcept;
/// The worker in that slot neither sleeps nor has stopped.
[[nodiscard]] bool is_active(runtime &rt, unsigned slot) noexcept;

} // namespace rt
} // namespace weft::inline v0

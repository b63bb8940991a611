// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

struct thread_context;

// Supplied by worker/.

/// Wakes a worker that may manage, because a message was posted.
void wake_for_message() noexcept;
/// Guesses whether a worker sleeps for want of work, or looks for some.
[[nodiscard]] bool any_worker_idles() noexcept;
/// Returns how many tasks all workers together have begun.
[[nodiscard]] std::uint64_t tasks_begun() noexcept;
/// Returns how many ready tasks are in the worker's own queue; ~0 if the policy gives it none.
[[nodiscard]] std::size_t ready_at(const thread_context &e) noexcept;

} // namespace rt
} // namespace weft::inline v0

// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "task/lineage.hpp"
#include "task/task.hpp"

#include <exception>

namespace weft::inline v0 {
namespace rt {

// Supplied by worker/.

/// Gives ready work to the scheduler. Any thread.
void enqueue_ready(runnable &ready);
/// Runs the newest own tasks and their immediate successors for a frame that waits until `word` is
/// done(owned), as long as these tasks belong to the lineage that the frame waits for. Returns
/// false if there was none.
bool help(const lineage &waited_for, const completion_word<> &word, const std::int32_t &owned);
/// Runs one ready item on top of a waiting frame whose worker has no stack to go on with, or
/// yields.
void get_by();
/// Waits as long as an observer reads all tasks. A worker calls it before it begins a body while
/// arm_safepoint() is on.
void stop_at_safepoint() noexcept;

} // namespace rt
} // namespace weft::inline v0
